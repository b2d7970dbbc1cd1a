// Markdown for what the Temporal UI shows of a workflow: its summary, details and current details
// (https://docs.temporal.io/develop/typescript/observability, "user metadata").

const SPECIAL = /[\\`*_{}[\]<>#|~!$]/g;

// What could make a link or an element of HTML.
const MISLEADING = /[<[]/g;
// In bytes at most 400, by the default of Temporal's `limit.userMetadataSummarySize`; a character has up to three.
const LONGEST_SUMMARY = 120;

/** Escapes external text, such as an error, so that it is shown literally. */
export function plain(text: string): string {
  return text.replaceAll(SPECIAL, '\\$&');
}

/**
 * A summary of a workflow or a timer. It is read on timelines and command lines as well, so names and errors are not
 * escaped, except for misleading characters; text too long for Temporal is cut.
 */
export function summaryLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').replaceAll(MISLEADING, '\\$&');
  return line.length <= LONGEST_SUMMARY ? line : `${line.slice(0, LONGEST_SUMMARY - 1)}…`;
}

// The UI renders Markdown in a page beside `namespaces/`, whatever path it is served under, and puts the namespace in.
const WORKFLOWS = 'namespaces/{namespace}/workflows';

export function workflowReference(workflowId: string, text = workflowId): string {
  return `[${text}](${WORKFLOWS}/${encodeURIComponent(workflowId)})`;
}

/**
 * A link to the workflows that a query finds.
 * @param query https://docs.temporal.io/list-filter; of names and ids only
 */
export function listReference(text: string, query: string): string {
  return `[${text}](${WORKFLOWS}?query=${encodeURIComponent(query)})`;
}

/** Explains what a signal does and how to send it, for readers who do not know Temporal. */
export function signalChoices(...choices: string[]): string {
  const how = 'Signals that you can send with *More Actions* > *Send a Signal* (leave *Data* empty):';
  return `${how}\n\n${choices.map((choice) => `* ${choice}`).join('\n')}`;
}

export function paragraphs(...each: string[]): string {
  return each.join('\n\n');
}
