// What a record is, as names and values.
import type { ReactNode } from 'react';

export type Fact = [name: string, value: ReactNode] | false | null | undefined;

export function Facts({ of }: { of: Fact[] }) {
  return (
    <dl className="facts">
      {of
        .filter((fact) => Array.isArray(fact))
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
