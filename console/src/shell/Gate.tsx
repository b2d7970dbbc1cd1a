// Lets in who has a key: by the code of a link, by a key that is typed in, or by the one this tab has.
import { Center, Loader } from '@mantine/core';
import { RouterProvider } from '@tanstack/react-router';
import { Suspense, useEffect, useState, useSyncExternalStore } from 'react';
import { CallerProvider } from '../api/caller.tsx';
import { clientWith } from '../api/client.ts';
import { useAsk } from '../api/queries.ts';
import { session } from '../api/session.ts';
import { told } from '../api/errors.ts';
import { Failed } from '../components/Failed.tsx';
import { router } from '../router.tsx';
import { SignIn } from './later.ts';

export function Gate({ code }: { code: string | null }) {
  const { key, ended } = useSyncExternalStore(session.subscribe, session.get);
  const [exchange, setExchange] = useState<{ problem: string | null; running: boolean }>({
    problem: null,
    running: code !== null,
  });
  useEffect(() => {
    if (code !== null) void exchanged(code).then((problem) => setExchange({ problem, running: false }));
  }, [code]);
  if (exchange.running) return <Waiting />;
  if (key === null)
    return (
      <Suspense fallback={<Waiting />}>
        <SignIn ended={ended} linkProblem={exchange.problem} />
      </Suspense>
    );
  return <SignedIn key={key} />;
}

// React may run an effect twice; a code is good for once.
const exchanges = new Map<string, Promise<string | null>>();
/** @returns what is wrong; null when a session has begun */
function exchanged(code: string): Promise<string | null> {
  const known = exchanges.get(code);
  if (known !== undefined) return known;
  const made = clientWith(null)
    .signIn({ body: { code } })
    .then(
      ({ token }) => {
        session.begin(token);
        return null;
      },
      (error: unknown) => told(error).message,
    );
  exchanges.set(code, made);
  return made;
}

function SignedIn() {
  const caller = useAsk('getCaller', {});
  const { data } = caller;
  useEffect(() => (data ? session.remember(data) : undefined), [data]);
  if (data)
    return (
      <CallerProvider caller={data}>
        <RouterProvider router={router} />
      </CallerProvider>
    );
  if (caller.error) return <Failed error={caller.error} again={() => void caller.refetch()} />;
  return <Waiting />;
}

function Waiting() {
  return (
    <Center h="100dvh">
      <Loader aria-label="Loading" />
    </Center>
  );
}
