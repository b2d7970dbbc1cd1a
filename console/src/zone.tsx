// The one time zone of all pages, UTC or that of the browser, and times in it.
import { useLocalStorage } from '@mantine/hooks';
import { createContext, type ReactNode, useContext, useSyncExternalStore } from 'react';
import { exactText, fromNowText, type Zone } from './format.ts';

const KEPT = { key: 'hookyard.zone', getInitialValueInEffect: false, sync: false };
const Context = createContext<{ zone: Zone; setZone: (zone: Zone) => void }>({ zone: 'utc', setZone: () => {} });

export function ZoneProvider({ children }: { children: ReactNode }) {
  const [zone, setZone] = useLocalStorage<Zone>({ ...KEPT, defaultValue: 'utc' });
  return <Context value={{ zone, setZone }}>{children}</Context>;
}

export const useZone = () => useContext(Context);

const TICK_MS = 1000;
const subscribe = (listener: () => void) => {
  const timer = setInterval(listener, TICK_MS);
  return () => clearInterval(timer);
};
const nowIn = (stepMs: number) => () => Math.floor(Date.now() / stepMs) * stepMs;

/** The time, in steps: a component is drawn again when a step ends. */
export const useNow = (stepMs = TICK_MS): number => useSyncExternalStore(subscribe, nowIn(stepMs));

interface Props {
  at: string | null | undefined;
  ms?: boolean;
  /** The date and time itself; otherwise how long ago it was, with the time in the tooltip. */
  exact?: boolean;
}

export function Time({ at, ms = false, exact = false }: Props) {
  const { zone } = useZone();
  // Drawn again every ten seconds.
  useNow(10_000);
  if (!at) return <span className="quiet">–</span>;
  const time = exactText(at, zone, ms);
  const ago = fromNowText(at, Date.now());
  return (
    <time dateTime={at} title={exact ? ago : time} className="nowrap">
      {exact ? time : ago}
    </time>
  );
}
