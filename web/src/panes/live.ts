/** Components that are drawn anew when a signal that they read has changed. */
import { Component, type ComponentChildren } from "preact";
import { computed, effect, signal } from "@preact/signals-core";

export function live<Props extends object = object>(draw: (props: Props) => ComponentChildren) {
  return class extends Component<Props> {
    private readonly given = signal(this.props);
    private readonly drawn = computed(() => draw(this.given.value));
    private drawing = false;
    private stop = (): void => undefined;

    override componentDidMount(): void {
      this.drawing = true;
      this.stop = effect(() => {
        void this.drawn.value;
        if (!this.drawing) this.setState({});
      });
      this.drawing = false;
    }

    override componentWillUnmount(): void {
      this.stop();
    }

    override render(): ComponentChildren {
      this.drawing = true;
      this.given.value = this.props;
      this.drawing = false;
      return this.drawn.value;
    }
  };
}
