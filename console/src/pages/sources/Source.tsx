// One source: its address and how its sender is connected, what comes in, what is refused and why, and what it is.
import { Alert, Button, Group, SimpleGrid, Text } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import type { Source } from 'hookyard/client';
import { useMay } from '../../api/caller.tsx';
import { call } from '../../api/client.ts';
import { ifUnchanged } from '../../api/versions.ts';
import { Figures } from '../../charts/Figures.tsx';
import { Count } from '../../components/Count.tsx';
import { ConfirmedAction } from '../../components/ConfirmedAction.tsx';
import { Facts } from '../../components/Facts.tsx';
import { IssuesOf } from '../../components/IssuesOf.tsx';
import { RecordPage } from '../../components/RecordPage.tsx';
import { Period, usePeriod } from '../../components/Period.tsx';
import { RotateSecret } from '../../components/RotateSecret.tsx';
import { countText, durationText, plain } from '../../format.ts';
import { Time } from '../../zone.tsx';
import { Connect } from './Connect.tsx';
import { Refusals } from './Refusals.tsx';
import { Warnings } from './Warnings.tsx';
import { verifiedBy } from './values.ts';

const AGAIN_MS = 10_000;

export function SourcePage() {
  return (
    <RecordPage
      get="getSource"
      every={AGAIN_MS}
      title="Source"
      titleOf={({ name }) => `Source ${plain(name)}`}
      actions={(source) => <Actions source={source} />}
    >
      {(source) => <Shown source={source} />}
    </RecordPage>
  );
}

function Shown({ source }: { source: Source }) {
  const range = usePeriod();
  const maySeeEvents = useMay('events:read');
  const maySeeFigures = useMay('deliveries:read');
  const mayRoutes = useMay('routes:read');
  const of = { sourceId: source.id };
  return (
    <>
      {source.description && <Text className="anywhere">{plain(source.description)}</Text>}
      {!source.enabled && (
        <Alert color="yellow" title="This source is disabled" my="sm">
          Webhooks to it are refused, and nothing is stored.
        </Alert>
      )}
      <Warnings of={source.warnings} />
      <IssuesOf of={of} />
      <Connect source={source} />
      <Group justify="space-between" mt="sm">
        <h2>{maySeeFigures ? 'Figures' : 'Time'}</h2>
        <Period />
      </Group>
      {maySeeFigures && (
        <SimpleGrid cols={{ base: 1, lg: 2 }}>
          <Figures title="Webhooks" metric="events" members={['events']} range={range} of={of} />
          <Figures title="Refused by the hour" metric="refused" members={['refused']} range={range} of={of} />
        </SimpleGrid>
      )}
      {maySeeEvents && <Refusals id={source.id} range={range} />}
      <h2>What it is</h2>
      <Facts
        of={[
          ['Slug', source.slug],
          ['Signatures', verifiedBy(source)],
          source.verificationConfig.header !== undefined && ['In the header', plain(source.verificationConfig.header)],
          source.previousSecretUntil !== null && [
            'The secret before is valid until',
            <Time key="secret" at={source.previousSecretUntil} />,
          ],
          ['Unguessable part of the address', source.ingestToken === 'none' ? 'no' : source.ingestToken],
          source.previousTokenUntil !== null && [
            'The address before is valid until',
            <Time key="token" at={source.previousTokenUntil} />,
          ],
          ['Concealed', source.concealed ? 'yes' : 'no'],
          ['Paths below the address', source.allowPaths ? 'taken' : 'refused'],
          source.handshake !== null && ['Answer to a check of the address', checkText(source.handshake)],
          ['Repeats are known by', repeatsText(source.idempotencyKey)],
          [
            'Senders are answered',
            source.answer === null
              ? 'the id of the event'
              : `${source.answer.status}, ${plain(source.answer.contentType)}`,
          ],
          source.lastHandshake !== null && [
            `Last handshake (${source.lastHandshake.kind})`,
            <Time key="handshake" at={source.lastHandshake.at} />,
          ],
          ['Events', countText(source.eventsCount)],
          ['Last event', <Time key="last" at={source.lastEventAt} />],
          ['Created', <Time key="created" at={source.createdAt} />],
          ['Changed', <Time key="changed" at={source.updatedAt} />],
        ]}
      />
      <Group>
        {maySeeEvents && (
          <Link to="/events" search={{ ...of, range: '24h' } as never}>
            Its events
          </Link>
        )}
        {mayRoutes && (
          <Link to="/routes" search={of as never}>
            <Count list="listRoutes" input={of} one="route begins here" many="routes begin here" />
          </Link>
        )}
      </Group>
    </>
  );
}

function checkText({ type, parameter = '' }: NonNullable<Source['handshake']>): string {
  if (type === 'ok') return '200';
  return type === 'echo' ? `?${plain(parameter)}=` : `HMAC of ?${plain(parameter)}=`;
}

function repeatsText(key: Source['idempotencyKey']): string {
  if (key === null) return 'nothing: each is stored';
  const by = key.signature ? 'the signature' : (key.header ?? key.jsonPath ?? `?${key.query ?? ''}=`);
  return `${plain(by)}, for ${durationText(key.windowSeconds * 1000)}`;
}

function Actions({ source }: { source: Source }) {
  const mayWrite = useMay('sources:write');
  const mayReadEvents = useMay('events:read');
  const navigate = useNavigate();
  if (!mayWrite) return null;
  const { id, enabled } = source;
  const hasSecret = source.verificationConfig.type !== 'none';
  return (
    <>
      <Button size="xs" onClick={() => void navigate({ to: `/sources/${id}/edit` })}>
        Edit
      </Button>
      {hasSecret && (
        <RotateSecret kind="own" what="secret" run={(body) => call('rotateVerificationSecret', { id, body })}>
          Enter the secret that the sender will sign with. Webhooks signed with the one before are accepted for a while,
          so that none is refused in between.
        </RotateSecret>
      )}
      {source.ingestToken !== 'none' && <RotateToken id={id} />}
      <ConfirmedAction
        label={enabled ? 'Disable' : 'Enable'}
        title={`${enabled ? 'Disable' : 'Enable'} this source`}
        verb={enabled ? 'Disable it' : 'Enable it'}
        run={async () => {
          await call('updateSource', { id, body: { enabled: !enabled } }, ifUnchanged(source));
          return enabled ? 'The source is disabled' : 'The source takes webhooks again';
        }}
      >
        {enabled
          ? 'Its webhooks are answered with 403 and are not stored. Some senders repeat them, some give up the address.'
          : 'It takes webhooks from now on.'}
      </ConfirmedAction>
      <ConfirmedAction
        label="Delete"
        title={`Delete ${plain(source.name)}`}
        verb="Delete it and all its events"
        isDestructive
        run={async () => {
          await call('deleteSource', { id }, ifUnchanged(source));
          return 'The source is deleted';
        }}
        onDone={() => navigate({ to: '/sources' })}
      >
        <Text>
          Its routes, its{' '}
          {mayReadEvents ? <Count list="listEvents" input={{ sourceId: id }} one="event" many="events" /> : 'events'}{' '}
          and their deliveries are deleted with it. Its address answers 404 from then on. This cannot be undone.
        </Text>
      </ConfirmedAction>
    </>
  );
}

const DAY_SECONDS = 86_400;

function RotateToken({ id }: { id: string }) {
  return (
    <ConfirmedAction
      label="Rotate the address"
      verb="Rotate it"
      run={async () => {
        await call('rotateIngestToken', { id, body: { overlapSeconds: DAY_SECONDS } });
        return 'The source has a new address; the one before is valid for a day';
      }}
    >
      The address gets another unguessable part. The one before is valid for a day: give the sender the new one until
      then.
    </ConfirmedAction>
  );
}
