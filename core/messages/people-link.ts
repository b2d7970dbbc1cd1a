// Where people see a record that a message names.

/** The addresses of an installation. */
export interface PeopleLinks {
  /** Base of the API's addresses; empty when it is not known. */
  apiBase: string;
  /** Whether the API serves the console. */
  hasConsole: boolean;
}

/**
 * Its page in the console, which asks for a key; without a console what the API says of it, which needs one.
 * @param path of the record in both, such as `/issues/iss_...`
 */
export function peopleLink({ apiBase, hasConsole }: PeopleLinks, path: string): string {
  return `${apiBase}${hasConsole ? '/console' : '/api'}${path}`;
}
