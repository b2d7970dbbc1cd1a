// Sign in by an API key. It is tried before it is kept, and kept in this tab only.
import { Alert, Button, Code, Container, PasswordInput, Stack, Text, Title } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { clientWith, HookyardError } from '../api/client.ts';
import { told } from '../api/errors.ts';
import { session } from '../api/session.ts';

export function SignIn({ ended, linkProblem }: { ended: 'signed-out' | 'refused' | null; linkProblem: string | null }) {
  const [key, setKey] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const [trying, setTrying] = useState(false);
  const signIn = async (event: FormEvent) => {
    event.preventDefault();
    setTrying(true);
    try {
      await clientWith(key.trim()).getCaller();
      session.begin(key.trim());
    } catch (error) {
      setProblem(
        error instanceof HookyardError && error.status === 401
          ? 'This key is not valid: it was mistyped, was revoked, or has expired.'
          : told(error).message,
      );
    } finally {
      setTrying(false);
    }
  };
  return (
    <Container component="main" size="xs" py="xl">
      <form onSubmit={(event) => void signIn(event)}>
        <Stack>
          <Title order={1}>Sign in to Hookyard</Title>
          {ended === 'refused' && (
            <Alert color="yellow" title="The key is no longer valid" role="alert">
              It was revoked or has expired. Sign in with another one; this page stays where it is.
            </Alert>
          )}
          {linkProblem !== null && (
            <Alert color="yellow" title="The link cannot be used" role="alert">
              {linkProblem}
            </Alert>
          )}
          <PasswordInput
            label="API key"
            description="Begins with whr_. It stays in this tab and is forgotten with it."
            value={key}
            onChange={(event) => setKey(event.currentTarget.value)}
            error={problem}
            autoComplete="off"
            spellCheck={false}
            required
            data-autofocus
            autoFocus
            visibilityToggleButtonProps={{ 'aria-label': 'Show the key', 'aria-hidden': false, tabIndex: 0 }}
          />
          <Button type="submit" loading={trying}>
            Sign in
          </Button>
          <Text size="sm">
            Who is signed in makes keys for others, on the page <em>API keys</em>; one with the scope <Code>read</Code>{' '}
            can only look. <Code>npm start</Code> prints a link that signs in by itself, and the file that keeps the
            first key.
          </Text>
        </Stack>
      </form>
    </Container>
  );
}
