// Where an entry of the configuration was taken from, as a comment above it.

const MARK = 'imported from ';

export const provenance = (source: string): string => `${MARK}${source}`;

/** Whether a line is such a comment; it goes with its entry. */
export const isOurNote = (line: string): boolean => line.startsWith(`// ${MARK}`);
