/** The devices over which the base is spread: how, which operations are free, and what must move. */
import { Fragment, h } from "preact";
import { devices, followDevices, spread } from "../devices";
import { isMistake } from "../faults";
import { start } from "../layout";
import { pretty, tuple } from "../numbers";
import { change, page } from "../page";
import { IconButton } from "./controls";
import { live } from "./live";
import { sentence } from "./mistake";
import { Prose } from "./prose";

followDevices();

export const Devices = live(() => {
  const { mesh, color } = page.value;
  const shape = start.value?.shape ?? null;
  const now = devices.value;
  const answer = now?.answer ?? null;
  const wrong = now?.fault != null && isMistake(now.fault);
  return (
    <div class="devices" role="group" aria-label="Devices">
      <label>
        <span>
          {shape === null ? "The base" : <code>{tuple(shape)}</code>} spread over
        </span>
        <input
          class="text"
          type="text"
          value={mesh}
          placeholder="dp=2, tp=4 : S(0), R"
          spellcheck={false}
          autocomplete="off"
          maxLength={400}
          aria-invalid={wrong}
          aria-describedby="devices-say"
          onInput={(event) => change({ mesh: event.currentTarget.value }, "devices")}
        />
      </label>
      <p id="devices-say" class={wrong ? "wrong" : "soft"}>
        {spread.value === null && mesh.trim() !== "" ? (
          "Only a base shape can be spread over devices, not views."
        ) : now?.fault != null ? (
          <Prose text={sentence(now.fault.message)} />
        ) : answer !== null ? (
          <>
            {pretty(answer.devices)} devices. <Prose text={sentence(answer.sentence)} />{" "}
            {answer.moved !== null && <Prose text={sentence(answer.moved.sentence)} />}
          </>
        ) : (
          "Devices and their axes, then where each axis puts the tensor: S(0) cuts along axis 0, R keeps a copy."
        )}
      </p>
      <IconButton
        icon="remove"
        label="No devices"
        click={() => change({ mesh: "", ...(color === "device" ? { color: "address" } : {}) }, true)}
      />
    </div>
  );
});
