const MAX_CHARACTERS = 200;

/** A `User-Agent` as records have it. */
export const recordedAgent = (text: string): string => text.replace(/[^\x20-\x7e]/g, '?').slice(0, MAX_CHARACTERS);
