/** Code by the function that it shows, and what it gives; a pattern: the message with which a run ends. */
export type Answers = Record<string, [code: string, answer: unknown][]>;
