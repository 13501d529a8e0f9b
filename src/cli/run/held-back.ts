// An agent that goes is told of at once, and mostly the failure that ends the command says the same. So that it is read once, what is said of an
// agent waits until it is clear whether the turn goes on.

export type HeldBack = {
  say(text: string): void;
  /** The turn goes on: it was news. */
  release(): void;
  /** What the failure's own words leave out. */
  releaseBeside(failure: string): void;
};

export function createHeldBack(say: (text: string) => void): HeldBack {
  let held: string[] = [];
  function release(isTold: (text: string) => boolean): void {
    const texts = held;
    held = [];
    for (const text of texts) if (!isTold(text)) say(text);
  }
  return {
    say(text) {
      if (!text.startsWith('Agent "')) say(text);
      else if (!held.includes(text)) held.push(text);
    },
    release: () => release(() => false),
    releaseBeside: (failure) => release((text) => failure.includes(text)),
  };
}
