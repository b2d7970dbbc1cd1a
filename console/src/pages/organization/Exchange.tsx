// Destinations and routes as files: out of this organization, and into it, tried first.
import { Alert, Button, Checkbox, FileInput, Group, NativeSelect, SimpleGrid, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useCaller, useMay } from '../../api/caller.tsx';
import { call, fileOf } from '../../api/client.ts';
import type { ApiCall } from '../../api/curl.ts';
import { queryClient } from '../../api/queries.ts';
import { CopyMenu } from '../../components/CopyMenu.tsx';
import { Failed } from '../../components/Failed.tsx';
import { Page } from '../../components/Page.tsx';
import { jsonOrNothing } from '../../exact-json.ts';
import { countText, plain } from '../../format.ts';
import { save } from '../../save.ts';

type Kind = 'destinations' | 'routes';
type Strategy = 'skip' | 'rename' | 'overwrite';

/** What an import has done, or would do, of either kind. */
interface Outcome {
  isTrial: boolean;
  lines: string[];
  errors: string[];
  warnings: string[];
  isGood: boolean;
}

export function Exchange() {
  const may = {
    readDestinations: useMay('destinations:read'),
    readRoutes: useMay('routes:read'),
    writeDestinations: useMay('destinations:write'),
    writeRoutes: useMay('routes:write'),
  };
  return (
    <Page title="Import and export">
      <Text mb="sm">
        Destinations and routes move between organizations as JSON files, with slugs in the place of ids. Destinations
        come first: routes refer to them, and to sources, filters, transforms and schemas, which must be there.
      </Text>
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        {may.readDestinations && <Export kind="destinations" />}
        {may.readRoutes && <Export kind="routes" />}
        {may.writeDestinations && <Import kind="destinations" />}
        {may.writeRoutes && <Import kind="routes" />}
      </SimpleGrid>
    </Page>
  );
}

function Export({ kind }: { kind: Kind }) {
  const { organization } = useCaller();
  const maySeeSecrets = useMay('secrets:read');
  const [withSecrets, setWithSecrets] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const isDestinations = kind === 'destinations';
  const input = withSecrets ? { includeSensitive: true } : {};
  const asked: ApiCall = isDestinations ? { name: 'exportDestinations', input } : { name: 'exportRoutes', input: {} };
  const download = async () => {
    setError(null);
    try {
      const file = isDestinations ? await fileOf('exportDestinations', input) : await fileOf('exportRoutes', {});
      save(file, `${organization.slug}-${kind}.json`);
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <section aria-label={`Export ${kind}`}>
      <h2>Export {kind}</h2>
      <Stack gap="xs">
        {isDestinations && maySeeSecrets && (
          <Checkbox
            label="With credentials in clear"
            description="Without it they are left out. With it the file is a secret, and the audit log has who took it."
            checked={withSecrets}
            onChange={(event) => setWithSecrets(event.currentTarget.checked)}
          />
        )}
        <Group>
          <Button size="xs" onClick={() => void download()}>
            Save all {kind} as a file
          </Button>
          <CopyMenu call={asked} />
        </Group>
        {error !== null && <Failed error={error} again={() => void download()} />}
      </Stack>
    </section>
  );
}

function Import({ kind }: { kind: Kind }) {
  const [file, setFile] = useState<File | null>(null);
  const [strategy, setStrategy] = useState<Strategy>('skip');
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isRunning, setRunning] = useState(false);
  const change = (next: () => void) => {
    next();
    setOutcome(null);
    setError(null);
  };
  const run = async (isTrial: boolean) => {
    if (!file) return;
    setRunning(true);
    setError(null);
    try {
      setOutcome(await importOf(kind, await file.text(), strategy, isTrial));
      if (!isTrial) await queryClient.invalidateQueries();
    } catch (problem) {
      setError(problem);
    } finally {
      setRunning(false);
    }
  };
  return (
    <section aria-label={`Import ${kind}`}>
      <h2>Import {kind}</h2>
      <Stack gap="xs">
        <FileInput
          label={`A file of ${kind}`}
          placeholder="Choose a file"
          accept="application/json,.json"
          value={file}
          onChange={(next) => change(() => setFile(next))}
        />
        <NativeSelect
          label={kind === 'destinations' ? 'If its slug is taken' : 'If its name is taken'}
          value={strategy}
          onChange={(event) => {
            const next = event.currentTarget.value as Strategy;
            change(() => setStrategy(next));
          }}
          data={[
            { value: 'skip', label: 'leave what is there' },
            { value: 'rename', label: 'import it under another' },
            { value: 'overwrite', label: 'overwrite what is there' },
          ]}
        />
        <Group>
          <Button size="xs" variant="default" disabled={!file} loading={isRunning} onClick={() => void run(true)}>
            Try it: changes nothing
          </Button>
          <Button
            size="xs"
            disabled={!file || !outcome?.isTrial || (kind === 'routes' && !outcome.isGood)}
            loading={isRunning}
            onClick={() => void run(false)}
          >
            Import it
          </Button>
        </Group>
        {error !== null && <Failed error={error} />}
        {outcome && <Shown outcome={outcome} />}
      </Stack>
    </section>
  );
}

async function importOf(kind: Kind, text: string, conflictStrategy: Strategy, validateOnly: boolean): Promise<Outcome> {
  const parsed = jsonOrNothing(text);
  if (!parsed) throw new Error('The file is no JSON: take one that was saved here, or by GET .../export.');
  const items = (parsed.value as Record<string, unknown> | null)?.[kind];
  if (!Array.isArray(items)) throw new Error(`The file has no list “${kind}”: is it one of ${kind}?`);
  // The whole file: the API knows its version, and says what is wrong with it.
  const body = { ...(parsed.value as object), conflictStrategy, validateOnly };
  if (kind === 'destinations') {
    const { summary, errors, warnings, success } = await call('importDestinations', { body: body as never });
    const lines = Object.entries(summary).map(([what, count]) => `${countText(count)} ${what}`);
    return { isTrial: validateOnly, lines, errors, warnings, isGood: success };
  }
  const { imported, skipped, overwritten, errors, warnings } = await call('importRoutes', { body: body as never });
  const lines = Object.entries({ imported, skipped, overwritten }).map(([what, n]) => `${countText(n)} ${what}`);
  return { isTrial: validateOnly, lines, errors, warnings, isGood: errors.length === 0 };
}

function Shown({ outcome: { isTrial, lines, errors, warnings, isGood } }: { outcome: Outcome }) {
  return (
    <Alert
      role="status"
      color={isGood ? 'green' : 'red'}
      title={isTrial ? 'This would happen; nothing is changed yet' : 'This was done'}
    >
      <Text size="sm">{lines.join(', ')}.</Text>
      <Lines title="What is wrong" of={errors} />
      <Lines title="To be known" of={warnings} />
    </Alert>
  );
}

function Lines({ title, of }: { title: string; of: string[] }) {
  if (of.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul className="anywhere">
        {of.map((line) => (
          <li key={line}>
            <bdi>{plain(line)}</bdi>
          </li>
        ))}
      </ul>
    </>
  );
}
