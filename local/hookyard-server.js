#!/usr/bin/env node
// hookyard-server: what `npm start` does, from an installed package (`npm install --global hookyard`).
const [, , option] = process.argv;

if (option === undefined) {
  process.argv.push('local/main.ts');
  await import('./bootstrap.js');
} else {
  console.log(`Usage: hookyard-server

Runs all of Hookyard on this machine: PostgreSQL, Temporal, the API and a worker. Ctrl-C ends it. Data is in the user's data
folder, or in HOOKYARD_DATA_DIR. The command line is hookyard; settings are environment variables: docs/configuration.md.`);
  process.exitCode = ['--help', '-h'].includes(option) ? 0 : 2;
}
