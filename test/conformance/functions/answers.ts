/** By function: code that shows it, and what it gives; a pattern: the message with which a run ends. */
export type Answers = Record<string, Record<string, unknown>>;
