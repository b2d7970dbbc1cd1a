// The API key of this tab. It is kept in sessionStorage: it goes with the tab, no request carries it by itself, and no
// other site can make the browser send it.
const PLACE = 'hookyard.key';
const OPERATOR_PLACE = 'hookyard.operator-key';
const KNOWN_PLACE = 'hookyard.organizations';

/** An organization that this tab has signed in to. */
interface Known {
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
    // A key that is refused is not offered again; signing out forgets all.
    const left = ended === 'refused' ? session.known().filter(({ key }) => key !== current.key) : [];
    keep(KNOWN_PLACE, left.length > 0 ? JSON.stringify(left) : null);
    change({ key: null, operatorKey: null, ended });
  },
  known: (): Known[] => JSON.parse(sessionStorage.getItem(KNOWN_PLACE) ?? '[]') as Known[],
  /** Remembers the organization of the key, for the switcher. */
  remember({ id, name }: Omit<Known, 'key'>): void {
    const { key } = current;
    if (key === null) return;
    keep(KNOWN_PLACE, JSON.stringify([...session.known().filter((one) => one.id !== id), { id, name, key }]));
  },
  /** Shows the sign-in; the organizations stay known. */
  leave(): void {
    keep(PLACE, null);
    change({ ...current, key: null, ended: null });
  },
  setOperatorKey(operatorKey: string | null): void {
    keep(OPERATOR_PLACE, operatorKey);
    change({ ...current, operatorKey });
  },
};

function change(next: Session): void {
  current = next;
  for (const listener of listeners) listener();
}

function keep(place: string, value: string | null): void {
  if (value === null) sessionStorage.removeItem(place);
  else sessionStorage.setItem(place, value);
}
