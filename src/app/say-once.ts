/** Words for people: to stderr for a command, to whoever embeds the switchboard otherwise. */
export type Say = (text: string) => void;

/** For a problem that may come again with every frame: said the first time only. */
export function sayOnce(say: Say, words: (error: unknown) => string): (error: unknown) => void {
  let isSaid = false;
  return (error) => {
    if (!isSaid) say(words(error));
    isSaid = true;
  };
}
