// The one time zone of all pages: UTC or that of the browser, always named.
import { createContext, type ReactNode, useContext, useState } from 'react';
import { fromNowText, timeText, type Zone } from './format.ts';

const PLACE = 'hookyard.zone';
const Context = createContext<{ zone: Zone; setZone: (zone: Zone) => void }>({ zone: 'utc', setZone: () => {} });

export function ZoneProvider({ children }: { children: ReactNode }) {
  const [zone, setZone] = useState<Zone>(localStorage.getItem(PLACE) === 'local' ? 'local' : 'utc');
  const keep = (next: Zone) => {
    localStorage.setItem(PLACE, next);
    setZone(next);
  };
  return <Context value={{ zone, setZone: keep }}>{children}</Context>;
}

export const useZone = () => useContext(Context);

/** A time in the zone; how long ago is its title. */
export function Time({ at, ms = false }: { at: string | null | undefined; ms?: boolean }) {
  const { zone } = useZone();
  if (!at) return <span>-</span>;
  return (
    <time dateTime={at} title={`${at} (${fromNowText(at, Date.now())})`} className="nowrap">
      {timeText(at, zone, ms)}
    </time>
  );
}
