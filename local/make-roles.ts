// Makes the roles and databases of an installation on a PostgreSQL that is not embedded, as its superuser:
// docker-compose.yml runs it before all others. Safe to repeat; a changed password is set.
import { type Passwords, setUpRoles } from './postgres/roles.ts';

function variable(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} must be set (see docker-compose.yml)`);
  return value;
}

const superuser = new URL(variable('DATABASE_URL'));
const passwords: Passwords = {
  hookyard_owner: variable('POSTGRES_OWNER_PASSWORD'),
  hookyard_runtime: variable('POSTGRES_RUNTIME_PASSWORD'),
  hookyard_temporal: variable('POSTGRES_TEMPORAL_PASSWORD'),
};
await setUpRoles((database) => Object.assign(new URL(superuser), { pathname: `/${database}` }).href, passwords);
console.log('the roles and their databases are ready');
