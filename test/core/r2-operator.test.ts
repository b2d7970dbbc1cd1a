import { expect } from 'chai';
import { isGranted, isPrefixGranted, operatorAccess, usesOperatorsKeys } from '../../core/warehouse/operator-access.ts';

const environment = { R2_ACCESS_KEY_ID: 'id', R2_SECRET_ACCESS_KEY: 'secret' };
const entries = ['acme:r2:events/hooks/', 'acme:r2:spare', 'other:r2:events', 'acme:s3:lake'];
const { r2, grants } = operatorAccess({ HOOKYARD_WAREHOUSE_IDENTITY: entries }, environment);
const type = 'r2';

describe('the R2 keys of the operator', () => {
  it('are for whole folders, not for what begins like them', () => {
    const may = (organization: string, bucket: string, key: string) =>
      isGranted(grants, { type, organization, bucket, key });
    expect(may('acme', 'events', 'hooks/a.jsonl')).to.equal(true);
    expect(may('acme', 'events', 'hooks-of-others/a.jsonl')).to.equal(false);
    expect(may('acme', 'events', 'a.jsonl')).to.equal(false);
    expect(may('acme', 'spare', 'a.jsonl')).to.equal(true);
    expect(may('acme', 'spare2', 'a.jsonl')).to.equal(false);
    expect(may('acme', 'lake', 'a.jsonl'), 'of another type').to.equal(false);
    expect(may('stranger', 'events', 'hooks/a.jsonl')).to.equal(false);
    const all = (prefix: string | undefined) =>
      isPrefixGranted(grants, { type, organization: 'acme', bucket: 'events', prefix });
    expect([all('hooks'), all('/hooks/eu/'), all('hook'), all(undefined)]).to.deep.equal([true, true, false, false]);
  });

  it('are used by a config that lacks one of its own', () => {
    expect(usesOperatorsKeys({ accessKeyId: 'a', secretAccessKey: 'b' }, r2)).to.equal(false);
    expect(usesOperatorsKeys({ accessKeyId: 'a' }, r2)).to.equal(true);
    expect(usesOperatorsKeys({ secretAccessKey: 'b' }, r2)).to.equal(true);
    expect(usesOperatorsKeys({}, {})).to.equal(false);
  });
});
