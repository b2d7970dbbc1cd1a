// Sign in by an API key. It is tried before it is kept, and kept in this tab only.
import { Box, Button, Code, PasswordInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { clientWith, HookyardError, told } from '../api/client.ts';
import { session } from '../api/session.ts';
import { Callout } from '../components/ui.tsx';
import { plain } from '../format.ts';

export function SignIn({ ended, linkProblem }: { ended: 'signed-out' | 'refused' | null; linkProblem: string | null }) {
  const [key, setKey] = useState('');
  const { mutate, isPending, error } = useMutation({
    // The key as it is now: the field can be edited while the answer is awaited.
    mutationFn: async () => {
      const tried = key.trim();
      await clientWith(tried).getCaller();
      session.begin(tried);
    },
  });
  const isRefused = error instanceof HookyardError && error.status === 401;
  const problem = isRefused ? 'Invalid API key. It may be mistyped, revoked or expired.' : error && told(error).message;
  const signIn = (event: FormEvent) => {
    event.preventDefault();
    mutate();
  };
  return (
    <Box component="main" maw={380} mx="auto" mt="12vh" px="md">
      <form onSubmit={signIn} className="stack">
        <h1>Sign in to Hookyard</h1>
        {ended === 'refused' && (
          <Callout tone="warn" title="Your API key is no longer valid" role="alert">
            The key was revoked or has expired. Sign in with another key to continue where you left off.
          </Callout>
        )}
        {linkProblem !== null && (
          <Callout tone="warn" title="This sign-in link does not work" role="alert">
            {linkProblem}
          </Callout>
        )}
        <PasswordInput
          label="API key"
          placeholder="whr_…"
          description="Stored in this tab only, until you close it."
          size="sm"
          value={key}
          onChange={(event) => setKey(event.currentTarget.value)}
          error={problem}
          autoComplete="off"
          spellCheck={false}
          required
          data-autofocus
          autoFocus
          visibilityToggleButtonProps={{ 'aria-label': 'Show key', 'aria-hidden': false, tabIndex: 0 }}
        />
        <Button type="submit" size="sm" loading={isPending}>
          Sign in
        </Button>
        {session.known().map(({ id, name, key: known }) => (
          <Button key={id} variant="default" size="sm" onClick={() => session.begin(known)}>
            Continue as {plain(name)}
          </Button>
        ))}
        <p className="small quiet">
          No key yet? Ask a colleague who can create API keys in Settings. On your own machine, <Code>npm start</Code>{' '}
          prints a sign-in link.
        </p>
      </form>
    </Box>
  );
}
