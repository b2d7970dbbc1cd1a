// The API key of this tab. It is kept in sessionStorage: it goes with the tab, no request carries it by itself, and no
// other site can make the browser send it.
import type { Caller } from '@hookyard/client';

const PLACE = 'hookyard.key';
const OPERATOR_PLACE = 'hookyard.operator-key';
const KNOWN_PLACE = 'hookyard.sessions';
/** The name that the API gives to the key of a sign-in link (db/organizations/keys.ts). */
const LINK_KEY = 'Console sign-in';

/** A key that this tab has signed in with. */
interface Known {
  /** Of the key. */
  id: string;
  name: string;
  key: string;
}

type Why = 'signed-out' | 'refused' | null;
interface Session {
  key: string | null;
  operatorKey: string | null;
  /** Why there is no key any more. */
  ended: Why;
}

let current: Session = {
  key: sessionStorage.getItem(PLACE),
  operatorKey: sessionStorage.getItem(OPERATOR_PLACE),
  ended: null,
};
const listeners = new Set<() => void>();

export const session = {
  get: (): Session => current,
  subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
  begin(key: string): void {
    keep(PLACE, key);
    change({ ...current, key, ended: null });
  },
  end(ended: Exclude<Why, null>): void {
    keep(PLACE, null);
    keep(OPERATOR_PLACE, null);
    // The other keys of this tab are still offered.
    keep(KNOWN_PLACE, JSON.stringify(session.known().filter(({ key }) => key !== current.key)));
    change({ key: null, operatorKey: null, ended });
  },
  known: (): Known[] => JSON.parse(sessionStorage.getItem(KNOWN_PLACE) ?? '[]') as Known[],
  /** Remembers the key, for the switcher. */
  remember(caller: Caller): void {
    const { key } = current;
    if (key === null) return;
    const { id } = caller.key;
    const others = session.known().filter((one) => one.id !== id);
    keep(KNOWN_PLACE, JSON.stringify([...others, { id, name: sessionName(caller), key }]));
  },
  /** Asks first if the key came from a sign-in link: its text is nowhere else. */
  signOut({ key }: Caller): void {
    const question = 'Sign out? To sign in again, you will need an API key or a new sign-in link printed at startup.';
    if (key.name !== LINK_KEY || confirm(question)) session.end('signed-out');
  },
  /** Shows the sign-in; the keys stay known. */
  leave(): void {
    keep(PLACE, null);
    change({ ...current, key: null, ended: null });
  },
  setOperatorKey(operatorKey: string | null): void {
    keep(OPERATOR_PLACE, operatorKey);
    change({ ...current, operatorKey });
  },
};

/** Two keys of one organization are told apart by their names. */
export const sessionName = ({ organization, key }: Caller): string => `${organization.name} (${key.name})`;

function change(next: Session): void {
  current = next;
  for (const listener of listeners) listener();
}

function keep(place: string, value: string | null): void {
  if (value === null) sessionStorage.removeItem(place);
  else sessionStorage.setItem(place, value);
}
