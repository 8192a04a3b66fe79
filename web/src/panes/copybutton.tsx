import { Component, h } from "preact";
import { copy } from "../copying";

interface Props {
  text(): string;
  name: string;
  hint?: string;
  disabled?: boolean;
}

/** A button that copies a text and says so. */
export class CopyButton extends Component<Props, { said: string | null }> {
  override render({ text, name, hint, disabled = false }: Props) {
    return (
      <button
        type="button"
        title={hint}
        disabled={disabled}
        onClick={() => {
          void copy(text()).then((done) => {
            this.setState({ said: done ? "Copied" : "Not allowed" });
            setTimeout(() => this.setState({ said: null }), 1500);
          });
        }}
      >
        <span aria-live="polite">{this.state.said ?? name}</span>
      </button>
    );
  }
}
