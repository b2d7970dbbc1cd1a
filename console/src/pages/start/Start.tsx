// The guide of an empty installation: create source, destination and route in one form, send a sample, watch it arrive,
// break the route and repair it.
import { Button, Code, Select } from '@mantine/core';
import { useForm } from '@mantine/form';
import { CheckIcon } from '../../components/icons.tsx';
import { Link } from '@tanstack/react-router';
import type { Provider, Route, Source } from '@hookyard/client';
import { type ReactNode, useRef, useState } from 'react';
import { useAll } from '../../api/lists.ts';
import { told } from '../../api/client.ts';
import { useTask } from '../../api/queries.ts';
import { Failed } from '../../components/Failed.tsx';
import { Page } from '../../components/Page.tsx';
import { Card, copy } from '../../components/ui.tsx';
import { Fields, secret, text, url } from '../../forms/fields.tsx';
import { plain } from '../../format.ts';
import { bestFirst, providerChoices } from '../sources/values.ts';
import { Arrivals, useArrivals } from './Arrivals.tsx';
import { Send } from './Send.tsx';
import { createAll, type FirstValues, type Made, setBroken } from './setup.ts';

const START: FirstValues = { name: 'Orders', url: '', provider: '', secret: '', verifyToken: '' };

interface Ready {
  source: Source;
  route: Route;
  provider: Provider | null;
}

export function Start() {
  const [ready, setReady] = useState<Ready | null>(null);
  return (
    <Page
      title="Get started"
      note="A source receives webhooks, a route connects it to a destination, and a delivery is one event on its way there. Try it in two minutes."
    >
      <Step number={1} state={ready ? 'done' : 'now'}>
        {ready ? <p className="quiet">Source, route and destination created</p> : <Create onReady={setReady} />}
      </Step>
      {ready ? (
        <Guided {...ready} />
      ) : (
        [2, 3, 4, 5].map((number) => <Step key={number} number={number} state="later" />)
      )}
    </Page>
  );
}

/** By their numbers. */
const TITLES: Record<number, string> = {
  1: 'Connect a sender and a receiver',
  2: 'Send a test webhook',
  3: 'Watch the event arrive',
  4: 'Break the route',
  5: 'Fix the route',
};

interface StepProps {
  number: number;
  state: 'now' | 'done' | 'later';
  children?: ReactNode;
}

function Step({ number, state, children }: StepProps) {
  return (
    <div className="guide" data-state={state}>
      <span className="mark" data-state={state} aria-hidden="true">
        {state === 'done' ? <CheckIcon /> : number}
      </span>
      <section className="stack" aria-label={TITLES[number]}>
        <h2>{TITLES[number]}</h2>
        {children}
      </section>
    </div>
  );
}

function Guided({ source, route, provider }: Ready) {
  const [isSent, setSent] = useState(false);
  const [phase, setPhase] = useState<'whole' | 'broken' | 'repaired'>('whole');
  const { mutate, error } = useTask();
  const arrivals = useArrivals(source);
  const hasArrived = (arrivals.answer.data?.data.length ?? 0) > 0;
  const change = (isBroken: boolean) =>
    mutate(() => setBroken(route, isBroken).then(() => setPhase(isBroken ? 'broken' : 'repaired')));
  const { webhookUrl } = source;
  return (
    <>
      <Step number={2} state={hasArrived ? 'done' : 'now'}>
        <div className="row">
          <Code className="anywhere">{webhookUrl}</Code>
          <Button variant="default" onClick={() => void copy(webhookUrl, 'Ingest URL')}>
            Copy URL
          </Button>
        </div>
        <Send
          key={`${source.verificationConfig.type} ${source.provider}`}
          source={source}
          provider={provider}
          onSent={() => setSent(true)}
        />
      </Step>
      <Step number={3} state={hasArrived ? 'done' : 'now'}>
        <Card>
          <Arrivals {...arrivals} isAwaited={isSent} />
        </Card>
      </Step>
      <Step number={4} state={!hasArrived ? 'later' : phase === 'whole' ? 'now' : 'done'}>
        {hasArrived && (
          <p>
            Make the route expect HTTP 299, which no receiver returns. Then send another test webhook. The attempt to
            deliver it will fail and be retried.
          </p>
        )}
        {hasArrived && phase === 'whole' && (
          <div>
            <Button variant="default" onClick={() => change(true)}>
              Break the route
            </Button>
          </div>
        )}
      </Step>
      <Step number={5} state={phase === 'repaired' ? 'done' : phase === 'broken' ? 'now' : 'later'}>
        {phase === 'broken' && (
          <>
            <p>
              Make the route accept any 2xx response again. Retries will then succeed automatically. To retry
              immediately, open the delivery and choose "Retry now".
            </p>
            <div>
              <Button onClick={() => change(false)}>Fix the route</Button>
            </div>
          </>
        )}
        {phase === 'repaired' && (
          <p>
            Done. View <Link to={`/sources/${source.id}`}>the source</Link>,{' '}
            <Link to={`/routes/${route.id}`}>the route</Link> or <Link to="/deliveries">the deliveries</Link>.
          </p>
        )}
      </Step>
      {error !== null && <Failed error={error} />}
    </>
  );
}

function Create({ onReady }: { onReady: (ready: Ready) => void }) {
  const form = useForm({ initialValues: START });
  const { mutate, isPending, error } = useTask();
  const made = useRef<Made>({});
  const providers = useAll('listProviders');
  const provider = providers.data?.records.find(({ name }) => name === form.values.provider) ?? null;
  const create = (values: FirstValues) =>
    mutate(async () => onReady({ ...(await createAll(values, made.current)), provider }));
  return (
    <form onSubmit={form.onSubmit(create)} className="form stack">
      <Select
        label="Sender"
        description={providers.error ? `Could not load providers: ${plain(told(providers.error).message)}` : undefined}
        placeholder="Custom sender"
        searchable
        clearable
        nothingFoundMessage="No results"
        value={form.values.provider || null}
        onChange={(name) => form.setValues({ provider: name ?? '', secret: '', verifyToken: '' })}
        filter={bestFirst}
        data={providerChoices(providers.data?.records)}
      />
      {provider && <p className="small quiet">{plain(provider.instructions)}</p>}
      <Fields
        form={form}
        of={[
          provider?.secret != null && secret('secret', 'Secret', { help: plain(provider.secret), isRequired: true }),
          provider?.verifyToken != null &&
            text('verifyToken', 'Verify token', { help: plain(provider.verifyToken), isRequired: true }),
          text('name', 'Source name', { isRequired: true }),
          url('url', 'Destination URL', {
            help: 'To receive events at http://localhost:4000, run node -e "http.createServer((_, r) => r.end()).listen(4000)"',
            placeholder: 'https://example.com/webhooks',
            isRequired: true,
          }),
        ]}
      />
      {error !== null && <Failed error={error} />}
      <div>
        <Button type="submit" loading={isPending}>
          Connect
        </Button>
      </div>
    </form>
  );
}
