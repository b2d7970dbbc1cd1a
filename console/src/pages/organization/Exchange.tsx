// Destinations and routes as files: out of this organization, and into it, tried first.
import { Button, Checkbox, FileInput, Group, NativeSelect, Stack } from '@mantine/core';
import { useState } from 'react';
import { mayWith, useCaller, useMay } from '../../api/caller.tsx';
import { call, fileOf } from '../../api/client.ts';
import type { ApiCall } from '../../api/curl.ts';
import { askAgain, useTask } from '../../api/queries.ts';
import { ExportMenu } from '../../components/ExportMenu.tsx';
import { Failed } from '../../components/Failed.tsx';
import { Page } from '../../components/Page.tsx';
import { Callout, Card } from '../../components/ui.tsx';
import { jsonOrNothing } from '../../json.ts';
import { countText, plain } from '../../format.ts';
import { save } from '../../csv.ts';

type Kind = 'destinations' | 'routes';
type Strategy = 'skip' | 'rename' | 'overwrite';

/** What an import has done, or would do, of either kind. */
interface Outcome {
  isTrial: boolean;
  counts: Record<string, number>;
  errors: string[];
  warnings: string[];
  isGood: boolean;
}

export function Exchange() {
  const { scopes } = useCaller().key;
  const kindsWith = (right: 'read' | 'write') =>
    (['destinations', 'routes'] as const).filter((kind) => mayWith(scopes, `${kind}:${right}`));
  return (
    <Page
      title="Import and export"
      note={
        kindsWith('write').length > 0
          ? 'Move destinations and routes between organizations as JSON files. Routes refer to other records by slug, so before you import routes, import the destinations and create the sources, filters, transforms and schemas.'
          : 'Download destinations and routes as JSON files. Your API key cannot import files.'
      }
    >
      <div className="grid-2">
        {kindsWith('read').map((kind) => (
          <Export key={kind} kind={kind} />
        ))}
        {kindsWith('write').map((kind) => (
          <Import key={kind} kind={kind} />
        ))}
      </div>
    </Page>
  );
}

function Export({ kind }: { kind: Kind }) {
  const { organization } = useCaller();
  const maySeeSecrets = useMay('secrets:read');
  const [withSecrets, setWithSecrets] = useState(false);
  const { mutate, error } = useTask();
  const isDestinations = kind === 'destinations';
  const input = withSecrets ? { includeSensitive: true } : {};
  const asked: ApiCall = isDestinations ? { name: 'exportDestinations', input } : { name: 'exportRoutes', input: {} };
  const download = () =>
    mutate(async () => {
      const file = isDestinations ? await fileOf('exportDestinations', input) : await fileOf('exportRoutes', {});
      save(file, `${organization.slug}-${kind}.json`);
    });
  return (
    <Card title={`Export ${kind}`} actions={<ExportMenu call={asked} />}>
      <Stack gap="sm">
        {isDestinations && maySeeSecrets && (
          <Checkbox
            label="Include credentials"
            description="The file will contain secrets in plain text, and the export will be recorded in the audit log."
            checked={withSecrets}
            onChange={(event) => setWithSecrets(event.currentTarget.checked)}
          />
        )}
        <Group>
          <Button onClick={download}>Download {kind}</Button>
        </Group>
        {error !== null && <Failed error={error} again={download} />}
      </Stack>
    </Card>
  );
}

function Import({ kind }: { kind: Kind }) {
  const [file, setFile] = useState<File | null>(null);
  const [strategy, setStrategy] = useState<Strategy>('skip');
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const { mutate, isPending, error, reset } = useTask();
  const change = (next: () => void) => {
    next();
    setOutcome(null);
    // What runs keeps its buttons disabled, and says how it ended.
    if (!isPending) reset();
  };
  const run = (isTrial: boolean) =>
    mutate(async () => {
      if (!file) return;
      setOutcome(await importOf(kind, await file.text(), strategy, isTrial));
      if (!isTrial) await askAgain();
    });
  return (
    <Card title={`Import ${kind}`}>
      <Stack gap="sm">
        <FileInput
          size="xs"
          label="File"
          placeholder="Choose a file"
          accept="application/json,.json"
          value={file}
          onChange={(next) => change(() => setFile(next))}
        />
        <NativeSelect
          label={kind === 'destinations' ? 'If the slug already exists' : 'If the name already exists'}
          value={strategy}
          onChange={(event) => {
            const next = event.currentTarget.value as Strategy;
            change(() => setStrategy(next));
          }}
          data={[
            { value: 'skip', label: 'Skip' },
            { value: 'rename', label: `Import with a new ${kind === 'destinations' ? 'slug' : 'name'}` },
            { value: 'overwrite', label: 'Overwrite' },
          ]}
        />
        <Group>
          <Button variant="default" disabled={!file} loading={isPending} onClick={() => run(true)}>
            Dry run
          </Button>
          <Button
            disabled={!file || !outcome?.isTrial || (kind === 'routes' && !outcome.isGood)}
            loading={isPending}
            onClick={() => run(false)}
          >
            Import
          </Button>
        </Group>
        {error !== null && <Failed error={error} />}
        {outcome && <Shown outcome={outcome} />}
      </Stack>
    </Card>
  );
}

async function importOf(kind: Kind, text: string, conflictStrategy: Strategy, validateOnly: boolean): Promise<Outcome> {
  const parsed = jsonOrNothing(text);
  if (!parsed) throw new Error('Not a JSON file. Choose a file exported by Hookyard.');
  const items = (parsed.value as Record<string, unknown> | null)?.[kind];
  if (!Array.isArray(items)) throw new Error(`The file contains no ${kind}.`);
  // The whole file: the API knows its version, and says what is wrong with it.
  const body = { ...(parsed.value as object), conflictStrategy, validateOnly };
  const isTrial = validateOnly;
  if (kind === 'destinations') {
    const { summary, success, errors, warnings } = await call('importDestinations', { body: body as never });
    return { isTrial, counts: { ...summary }, errors, warnings, isGood: success };
  }
  const { imported, skipped, overwritten, errors, warnings } = await call('importRoutes', { body: body as never });
  return { isTrial, counts: { imported, skipped, overwritten }, errors, warnings, isGood: errors.length === 0 };
}

function Shown({ outcome: { isTrial, counts, errors, warnings, isGood } }: { outcome: Outcome }) {
  return (
    <Callout
      role="status"
      tone={isGood ? 'ok' : 'bad'}
      title={isTrial ? 'Dry run: expected results (nothing was changed)' : 'Import finished'}
    >
      <p>
        {Object.entries(counts)
          .map(([what, count]) => `${countText(count)} ${what}`)
          .join(', ')}
      </p>
      <Lines title="Errors" of={errors} />
      <Lines title="Warnings" of={warnings} />
    </Callout>
  );
}

function Lines({ title, of }: { title: string; of: string[] }) {
  if (of.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      {of.map((line) => (
        <p key={line} className="anywhere">
          <bdi>{plain(line)}</bdi>
        </p>
      ))}
    </>
  );
}
