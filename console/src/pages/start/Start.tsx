// The guide of an empty installation: create source, destination and route in one form, send a sample, watch it arrive,
// break the route and repair it.
import { Button, Code, PasswordInput, Select, TextInput } from '@mantine/core';
import { CheckIcon } from '../../components/icons.tsx';
import { Link } from '@tanstack/react-router';
import type { Provider, Route, Source } from '@hookyard/client';
import { type FormEvent, type ReactNode, useRef, useState } from 'react';
import { useAll } from '../../api/lists.ts';
import { told } from '../../api/errors.ts';
import { useTask } from '../../api/queries.ts';
import { Failed } from '../../components/Failed.tsx';
import { Page } from '../../components/Page.tsx';
import { Card, copy } from '../../components/ui.tsx';
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
      <Step number={1} title="Connect a sender and a receiver" state={ready ? 'done' : 'now'}>
        {ready ? <p className="quiet">Source, route and destination created</p> : <Create onReady={setReady} />}
      </Step>
      {ready ? <Guided {...ready} /> : <Later from={2} />}
    </Page>
  );
}

const TITLES: Record<number, string> = {
  2: 'Send a test webhook',
  3: 'Watch the event arrive',
  4: 'Break the route',
  5: 'Fix the route',
};

const Later = ({ from }: { from: number }) =>
  Object.entries(TITLES).map(
    ([number, title]) =>
      Number(number) >= from && <Step key={number} number={Number(number)} title={title} state="later" />,
  );

interface StepProps {
  number: number;
  title: string;
  state: 'now' | 'done' | 'later';
  children?: ReactNode;
}

function Step({ number, title, state, children }: StepProps) {
  return (
    <div className="guide" data-state={state}>
      <span className="mark" data-state={state} aria-hidden="true">
        {state === 'done' ? <CheckIcon /> : number}
      </span>
      <section className="stack" aria-label={title}>
        <h2>{title}</h2>
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
  const { webhookUrl: url } = source;
  return (
    <>
      <Step number={2} title="Send a test webhook" state={hasArrived ? 'done' : 'now'}>
        <div className="row">
          <Code className="anywhere">{url}</Code>
          <Button variant="default" onClick={() => void copy(url, 'Ingest URL')}>
            Copy URL
          </Button>
        </div>
        <Send source={source} provider={provider} onSent={() => setSent(true)} />
      </Step>
      <Step number={3} title="Watch the event arrive" state={hasArrived ? 'done' : 'now'}>
        <Card>
          <Arrivals {...arrivals} isAwaited={isSent} />
        </Card>
      </Step>
      {hasArrived ? (
        <>
          <Step number={4} title="Break the route" state={phase === 'whole' ? 'now' : 'done'}>
            <p>
              Make the route expect HTTP 299, which no receiver returns. Then send another test webhook. The attempt to
              deliver it will fail and be retried.
            </p>
            {phase === 'whole' && (
              <div>
                <Button variant="default" onClick={() => change(true)}>
                  Break the route
                </Button>
              </div>
            )}
          </Step>
          <Step
            number={5}
            title="Fix the route"
            state={phase === 'repaired' ? 'done' : phase === 'broken' ? 'now' : 'later'}
          >
            {phase === 'broken' && (
              <>
                <p>
                  Accept any 2xx response again. Retries will then succeed automatically. To retry immediately, open the
                  delivery.
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
        </>
      ) : (
        <Later from={4} />
      )}
      {error !== null && <Failed error={error} />}
    </>
  );
}

function Create({ onReady }: { onReady: (ready: Ready) => void }) {
  const [values, setValues] = useState(START);
  const { mutate, isPending, error } = useTask();
  const made = useRef<Made>({});
  const providers = useAll('listProviders');
  const provider = providers.data?.records.find(({ name }) => name === values.provider) ?? null;
  const set = (change: Partial<FirstValues>) => setValues((before) => ({ ...before, ...change }));
  const create = (event: FormEvent) => {
    event.preventDefault();
    mutate(async () => onReady({ ...(await createAll(values, made.current)), provider }));
  };
  return (
    <form onSubmit={create} className="form stack">
      <Select
        label="Sender"
        description={providers.error ? `Could not load providers: ${plain(told(providers.error).message)}` : undefined}
        placeholder="Custom sender"
        searchable
        clearable
        nothingFoundMessage="No results"
        value={values.provider || null}
        onChange={(name) => set({ provider: name ?? '', secret: '', verifyToken: '' })}
        filter={bestFirst}
        data={providerChoices(providers.data?.records)}
      />
      {provider && <Credentials provider={provider} values={values} set={set} />}
      <TextInput
        label="Source name"
        value={values.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
        required
      />
      <TextInput
        label="Destination URL"
        placeholder="https://example.com/webhooks"
        description='To receive at http://localhost:4000, run node -e "http.createServer((_, r) => r.end()).listen(4000)"'
        type="url"
        value={values.url}
        onChange={(event) => set({ url: event.currentTarget.value })}
        required
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

interface CredentialsProps {
  provider: Provider;
  values: FirstValues;
  set: (change: Partial<FirstValues>) => void;
}

/** What the webhooks of the provider are verified by. */
function Credentials({ provider, values, set }: CredentialsProps) {
  return (
    <>
      <p className="small quiet">{plain(provider.instructions)}</p>
      {provider.secret !== null && (
        <PasswordInput
          label="Secret"
          description={plain(provider.secret)}
          autoComplete="off"
          required
          value={values.secret}
          onChange={(event) => set({ secret: event.currentTarget.value })}
        />
      )}
      {provider.verifyToken !== null && (
        <TextInput
          label="Verify token"
          description={plain(provider.verifyToken)}
          required
          value={values.verifyToken}
          onChange={(event) => set({ verifyToken: event.currentTarget.value })}
        />
      )}
    </>
  );
}
