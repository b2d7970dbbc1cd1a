// The state of a request, and the dependencies of handlers.
import Router, { type RouterContext } from '@koa/router';
import type { MikroORM } from '@mikro-orm/postgresql';
import type Koa from 'koa';
import type { Plan, Scope } from '../../core/config/plans-and-scopes.ts';
import type { Settings } from '../../core/config/config.ts';
import type { Tuning } from '../../core/config/tuning.ts';
import type { Limits } from '../../core/fairness/organization-limits.ts';
import type { RecipientRule } from '../../core/messages/route-mails.ts';
import type { IngestResult } from '../../core/metrics/ingest.ts';
import type { Log } from '../../core/process/log.ts';
import type { WorkflowLink } from '../../core/temporal/names.ts';
import type { OperatorAccess } from '../../core/warehouse/operator-access.ts';
import type { Pool } from '../../db/connections/pool.ts';
import type { SecretBox } from '../../db/encryption/secret-box.ts';
import { type EntityManager, tenantEntityManager } from '../../db/records/orm.ts';
import type { AllowList } from '../../outbound/http/address-guard.ts';
import type { Sender } from '../../outbound/http/sender.ts';
import type { Threads } from '../../outbound/threads/index.ts';
import type { SendAlert } from '../../outbound/messages.ts';
import type { Warehouses } from '../../outbound/warehouses/index.ts';
import type { OrganizationRequests } from '../auth/request-and-record-limits.ts';
import type { ClientAddress } from '../http/client-addresses.ts';
import type { BodyMemory, BodyRoom } from '../http/receive-body.ts';
import type { Backlog } from '../ingest/backlog.ts';
import type { Signals } from '../service/signals.ts';

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
  recordCount?: number;
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
  room?: BodyRoom;
  caller?: Caller;
  source?: { organizationId: string; sourceId: string };
  ingestResult?: IngestResult;
  errorCode?: string;
  /** The bytes of the body, if something before the handler needed them. */
  body?: Buffer;
  sent?: unknown;
  audit?: RequestAudit;
}

export const logOf = ({ state }: { state: ApiState }): Log => state.log.child({ requestId: state.requestId });

/** What the app puts into every context besides what Koa does. */
export interface Provided {
  deps: ApiDeps;
}
export type AppContext = Koa.ParameterizedContext<ApiState, Provided>;
export type Context = RouterContext<ApiState, Provided>;
export type Next = Koa.Next;
export type ApiRouter = Router<ApiState, Provided>;

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
  signals: Signals;
  sender: Sender;
  warehouses: Pick<Warehouses, 'put' | 'begin'>;
  sendAlert: SendAlert;
  recipientRule: () => RecipientRule;
  operatorAccess: OperatorAccess;
  /** What the operator has opened to deliveries. */
  allowList: () => AllowList;
  threads: Threads;
  workflowLink: WorkflowLink;
  requests: OrganizationRequests;
  backlog: Pick<Backlog, 'takeRoomForReplay'>;
  isEnding: () => boolean;
  log: Log;
}

export function newRouter(): ApiRouter {
  return new Router<ApiState, Provided>({ strict: false });
}

export function callerOf(ctx: { state: ApiState }): Caller {
  const { caller } = ctx.state;
  if (!caller) throw new Error('a handler that needs a caller was mounted without authentication');
  return caller;
}

export function organizationId(ctx: { state: ApiState }): string {
  return callerOf(ctx).organization.id;
}

/** A unit of work that sees the records of the request's organization only. */
export function entityManager(ctx: Context): EntityManager {
  return tenantEntityManager(ctx.deps.orm, organizationId(ctx));
}

export function param(ctx: Context, name: string): string {
  return ctx.params[name] ?? '';
}
