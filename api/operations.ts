// Every operation of the management API, in the order of its description.
import { destinationExchangeOperations } from './exchange/destination-exchange.ts';
import { routeExchangeOperations } from './exchange/route-exchange.ts';
import type { Operation } from './operation.ts';
import { alertChannelOperations } from './resources/alert-channels.ts';
import { apiKeyOperations } from './resources/api-keys.ts';
import { auditOperation } from './resources/audit.ts';
import { callerOperation } from './resources/auth-me.ts';
import { batchOperation } from './resources/batches.ts';
import { bulkOperations } from './resources/bulk.ts';
import { deliveryActionOperation } from './resources/delivery-actions.ts';
import { deliveryOperations } from './resources/deliveries.ts';
import { deliveryRequestOperation } from './resources/delivery-request.ts';
import { destinationOperations } from './resources/destinations.ts';
import { eventReplayOperations } from './resources/event-replays.ts';
import { eventStreamOperation } from './resources/event-stream.ts';
import { eventOperations } from './resources/events.ts';
import { filterOperations } from './resources/filters.ts';
import { issueOperations } from './resources/issues.ts';
import { metricOperation } from './resources/metrics.ts';
import { notificationRecipientOperations } from './resources/notification-recipients.ts';
import { organizationDestinationOperations } from './resources/organization-destinations.ts';
import { pauseOperations } from './resources/pauses.ts';
import { providerOperation, signSampleOperation } from './resources/providers.ts';
import { refusalOperation } from './resources/refusals.ts';
import { replayOperations } from './resources/replays.ts';
import { routeCircuitOperations } from './resources/route-circuit.ts';
import { routePreviewOperation } from './resources/route-preview.ts';
import { routeOperations } from './resources/routes.ts';
import { schemaOperations } from './resources/schemas.ts';
import { secretRotationOperations } from './resources/secret-rotation.ts';
import { sourceOperations } from './resources/sources.ts';
import { transformOperations } from './resources/transforms.ts';
import { usageOperations } from './resources/usage.ts';

export const managementOperations: Operation[] = [
  ...sourceOperations,
  refusalOperation,
  providerOperation,
  signSampleOperation,
  ...destinationOperations,
  batchOperation,
  ...organizationDestinationOperations,
  ...routeOperations,
  ...routeCircuitOperations,
  routePreviewOperation,
  ...pauseOperations,
  ...bulkOperations,
  ...secretRotationOperations,
  ...destinationExchangeOperations,
  ...routeExchangeOperations,
  ...notificationRecipientOperations,
  ...filterOperations,
  ...transformOperations,
  ...schemaOperations,
  ...eventOperations,
  eventStreamOperation,
  ...replayOperations,
  ...eventReplayOperations,
  ...deliveryOperations,
  deliveryActionOperation,
  ...issueOperations,
  metricOperation,
  deliveryRequestOperation,
  ...alertChannelOperations,
  ...usageOperations,
  callerOperation,
  ...apiKeyOperations,
  auditOperation,
];
