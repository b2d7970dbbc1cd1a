// Lets in who has a key: by the code of a link, by a key that is typed in, or by the one this tab has.
import { Center, Loader } from '@mantine/core';
import { RouterProvider } from '@tanstack/react-router';
import { Suspense, use, useEffect, useSyncExternalStore } from 'react';
import { CallerProvider } from '../api/caller.tsx';
import { clientWith, told } from '../api/client.ts';
import { useAsk } from '../api/queries.ts';
import { session } from '../api/session.ts';
import { Failed } from '../components/Failed.tsx';
import { router } from '../router.tsx';
import { SignIn } from './later.ts';

/** @returns what is wrong; null when a session has begun */
export async function signInWith(code: string): Promise<string | null> {
  try {
    const { token } = await clientWith(null).signIn({ body: { code } });
    session.begin(token);
    return null;
  } catch (error) {
    return told(error).message;
  }
}

/** @param link what is wrong with the link that was followed, if one was */
export const Gate = ({ link }: { link: Promise<string | null> }) => (
  <Suspense fallback={<Waiting />}>
    <Entrance link={link} />
  </Suspense>
);

function Entrance({ link }: { link: Promise<string | null> }) {
  const linkProblem = use(link);
  const { key, ended } = useSyncExternalStore(session.subscribe, session.get);
  return key === null ? <SignIn ended={ended} linkProblem={linkProblem} /> : <SignedIn key={key} />;
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
