// Reads JSON values of unverified shape.

export type JsonObject = Readonly<Record<string, unknown>>;

/** Neither an array nor null, which `typeof` calls objects too. */
export const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The fields of an object; none for any other value. */
export const fields = (value: unknown): JsonObject => (isObject(value) ? value : {});

/** The elements of an array; none for any other value. */
export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A string, also an empty one. */
export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
