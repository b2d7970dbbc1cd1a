#!/usr/bin/env node
// hookyard-server: what `npm start` does, from an installed package; with the name of a role that role alone; with
// anything else the command line, including the commands that work on the database.
const [, , option] = process.argv;
const ROLES = ['api', 'worker'];

if (option === undefined) {
  process.argv.push('local/main.ts');
  await import('./bootstrap.js');
} else if (ROLES.includes(option)) {
  process.argv[2] = `${option}/main.ts`;
  await import('./bootstrap.js');
} else if (['--help', '-h'].includes(option)) {
  console.log(`Usage: hookyard-server [api | worker | command]

Runs all of Hookyard on this machine: PostgreSQL, Temporal, the API and a worker. Ctrl-C stops it. Data is stored in the user's
data folder, or in HOOKYARD_DATA_DIR. Settings are environment variables: docs/operate/configuration.md.

api, worker    run only this role, with DATABASE_URL and TEMPORAL_ADDRESS
command        a hookyard command, such as migrate or orgs list; hookyard-server help lists the commands`);
} else await import('../cli/hookyard.js');
