// A port that is taken between its choice and the moment a server listens on it.
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { freePorts } from '../../local/ports.ts';
import { startStack } from '../../local/stack.ts';

const testData = join(import.meta.dirname, '..', '..', '.test-data');

describe('a port that another program takes while the stack starts', () => {
  let dataDir: string;
  let thief: Server | undefined;
  beforeEach(() => {
    dataDir = mkdtempSync(join(testData, 'ports-'));
    thief = undefined;
  });
  afterEach(() => {
    thief?.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('is left to it, and the servers start on others', async () => {
    const [temporalPort = 0] = await freePorts(1);
    const lines: string[] = [];
    const log = (line: string) => {
      lines.push(line);
      // The port was free when the start began; the server will find it taken, and at the second look it is free again.
      if (line.startsWith('PostgreSQL listens'))
        thief ??= createServer((socket) => socket.destroy()).listen(temporalPort, '127.0.0.1');
      if (line.startsWith('another program has taken a port')) thief?.close();
    };
    const stack = await startStack({ dataDir, postgresPort: 0, temporalPort, uiPort: null, log });
    try {
      expect(stack.temporalAddress).to.equal(`127.0.0.1:${temporalPort}`);
      expect(lines).to.include('another program has taken a port; starting the servers on other ports');
      expect(lines.filter((line) => line.startsWith('PostgreSQL listens'))).to.have.length(2);
    } finally {
      await stack.stop();
    }
  });
});
