// The failure that ends the command usually repeats the message about the agent's exit. To print it once, messages about agents
// wait until it is clear whether the turn continues.
export type HeldBack = {
  say(text: string): void;
  /** The turn continues: print the messages. */
  release(): void;
  /** Prints the messages that the failure does not contain. */
  releaseAttached(failure: string): void;
};

export function createHeldBack(say: (text: string) => void): HeldBack {
  let held: string[] = [];
  function release(isReported: (text: string) => boolean): void {
    const texts = held;
    held = [];
    for (const text of texts) if (!isReported(text)) say(text);
  }
  return {
    say(text) {
      if (!text.startsWith('Agent "')) say(text);
      else if (!held.includes(text)) held.push(text);
    },
    release: () => release(() => false),
    releaseAttached: (failure) => release((text) => failure.includes(text)),
  };
}
