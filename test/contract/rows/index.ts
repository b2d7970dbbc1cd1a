// Every row of the contract test.
import type { Row } from '../world.ts';
import { circuitRows } from './circuits.ts';
import { destinationRows } from './destination.ts';
import { destinationsRows } from './destinations.ts';
import { eventRows } from './events.ts';
import { organizationDestinationRows } from './organization-destinations.ts';
import { overview } from './overview.ts';
import { requestRows } from './requests.ts';
import { routeRows } from './route.ts';
import { routesRows } from './routes.ts';
import { ruleRows } from './rules.ts';
import { sourceRows } from './sources.ts';
import { warehouseRows } from './warehouses.ts';

export const rows: Row[] = [
  ...overview,
  ...requestRows,
  ...destinationRows,
  ...destinationsRows,
  ...organizationDestinationRows,
  ...routeRows,
  ...routesRows,
  ...circuitRows,
  ...eventRows,
  ...sourceRows,
  ...ruleRows,
  ...warehouseRows,
];
