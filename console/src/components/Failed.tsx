// A question that could not be answered: says so, says why, asks again. It never looks like "nothing found".
import { Alert, Button, Code, Group, Text } from '@mantine/core';
import { told } from '../api/errors.ts';
import { plain } from '../format.ts';

export function Failed({ error, again }: { error: unknown; again?: () => void }) {
  const { title, message, requestId } = told(error);
  return (
    <Alert color="red" title={title} role="alert" my="sm">
      <Text className="anywhere">{plain(message)}</Text>
      <Group mt="xs">
        {again && (
          <Button size="xs" variant="default" onClick={again}>
            Try again
          </Button>
        )}
        {requestId !== null && (
          <Text size="xs">
            Request <Code>{requestId}</Code>
          </Text>
        )}
      </Group>
    </Alert>
  );
}
