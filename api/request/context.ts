// The state of a request, and the dependencies of handlers.
import Router, { type RouterContext } from '@koa/router';
import type { MikroORM } from '@mikro-orm/postgresql';
import type Koa from 'koa';
import type { Plan, Scope } from '../../core/config/access.ts';
import type { Settings } from '../../core/config/config.ts';
import type { Tuning } from '../../core/config/tuning.ts';
import type { Limits } from '../../core/fairness/limits.ts';
import type { RecipientRule } from '../../core/messages/recipients.ts';
import type { IngestResult } from '../../core/metrics/ingest.ts';
import type { Log } from '../../core/process/log.ts';
import type { WorkflowLink } from '../../core/temporal/temporal-link.ts';
import type { OperatorAccess } from '../../core/warehouse/operator-access.ts';
import type { Pool } from '../../db/connections/pool.ts';
import type { SecretBox } from '../../db/encryption/secret-box.ts';
import { type EntityManager, tenantEntityManager } from '../../db/records/orm.ts';
import type { Threads } from '../../outbound/threads/index.ts';
import type { SendAlert } from '../../outbound/messages.ts';
import type { OrganizationRequests } from '../auth/organization-requests.ts';
import type { ClientAddress } from '../http/client-addresses.ts';
import type { BodyMemory, BodyRoom } from '../http/receive-body.ts';
import type { Backlog } from '../ingest/backlog.ts';
import type { TestSender, TestUploader } from '../resources/destinations/test-delivery.ts';
import type { Signals } from '../service/signals.ts';

/** The sender of a request: the organization and the API key that selected it. */
export interface Caller {
  organization: { id: string; name: string; slug: string; plan: Plan; limits: Limits; suspended: boolean };
  key: {
    id: string;
    name: string;
    scopes: Scope[];
    /** Ranges in CIDR notation; null: every address. */
    allowedAddresses: string[] | null;
    expiresAt: Date | null;
  };
}

interface RequestAudit {
  recordIds: string[];
  /** How many they are, if they are more than their ids. */
  recordCount?: number;
  /** Whether it is in the log. */
  isRecorded: boolean;
  /** Whether that was before it was done. */
  isAhead?: boolean;
  /** Writes its record, before it is done. */
  writeAhead?: () => Promise<void>;
}

export interface ApiState {
  requestId: string;
  log: Log;
  /** Whom the request comes from, behind the operator's proxies. */
  client: ClientAddress;
  memory: BodyMemory;
  /** What its body takes of the memory. */
  room?: BodyRoom;
  /** Set by `authenticate`. */
  caller?: Caller;
  /** The source of a webhook, when there is one by that name. */
  source?: { organizationId: string; sourceId: string };
  /** How a webhook was answered. */
  ingestResult?: IngestResult;
  /** The code of the error that it is answered with. */
  errorCode?: string;
  /** The bytes of the body, if something before the handler needed them. */
  body?: Buffer;
  /** The body as it was parsed. */
  sent?: unknown;
  /** What it is about to do, if that is recorded in the audit log. */
  audit?: RequestAudit;
}

export const logOf = ({ state }: { state: ApiState }): Log => state.log.child({ requestId: state.requestId });

export type AppContext = Koa.ParameterizedContext<ApiState>;
export type Context = RouterContext<ApiState>;
export type Next = Koa.Next;
export type ApiRouter = Router<ApiState>;

/** Dependencies of the handlers. */
export interface ApiDeps {
  settings: Settings;
  tuning: Tuning;
  /** Base of every `webhookUrl`, without a trailing slash; known once the server listens. */
  baseUrl: () => string;
  orm: MikroORM;
  /**
   * For hand-written statements of the management API; where there is a role of tenants, they see one organization's
   * rows.
   */
  pool: Pool;
  /** For what belongs to no organization, or finds out to which one. */
  servicePool: Pool;
  secretBox: SecretBox;
  /** Reaches the workflows of deliveries. */
  signals: Signals;
  testSender: TestSender;
  testUploader: TestUploader;
  sendAlert: SendAlert;
  /** Who may be sent notifications at the moment. */
  recipientRule: () => RecipientRule;
  /** What of the operator's access warehouses may use. */
  operatorAccess: OperatorAccess;
  /** Run transforms, and what is too much for the event loop. */
  threads: Threads;
  workflowLink: WorkflowLink;
  requests: OrganizationRequests;
  /** What waits, for replays. */
  backlog: Pick<Backlog, 'takeRoomForReplay'>;
  /** Whether this process is about to end. */
  isEnding: () => boolean;
  log: Log;
}

export function newRouter(): ApiRouter {
  return new Router<ApiState>({ strict: false });
}

/** The sender of a request behind `authenticate`. */
export function callerOf(ctx: { state: ApiState }): Caller {
  const { caller } = ctx.state;
  if (!caller) throw new Error('a handler that needs a caller was mounted without authentication');
  return caller;
}

/** The id of the organization a request acts in. */
export function organizationId(ctx: { state: ApiState }): string {
  return callerOf(ctx).organization.id;
}

/** A unit of work that sees the records of the request's organization only. */
export function entityManager(ctx: { state: ApiState }, deps: ApiDeps): EntityManager {
  return tenantEntityManager(deps.orm, organizationId(ctx));
}

/** A parameter of the path. */
export function param(ctx: Context, name: string): string {
  return ctx.params[name] ?? '';
}
