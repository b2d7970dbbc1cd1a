import { expect } from 'chai';
import { isGranted, isPrefixGranted } from '../../core/warehouse/bucket-grants.ts';
import { operatorR2, usesOperatorsKeys } from '../../core/warehouse/r2-operator.ts';

const environment = { R2_ACCESS_KEY_ID: 'id', R2_SECRET_ACCESS_KEY: 'secret' };
const entries = ['acme:r2:events/hooks/', 'acme:r2:spare', 'other:r2:events', 'acme:s3:lake'];
const given = operatorR2({ HOOKYARD_WAREHOUSE_IDENTITY: entries }, environment);

describe('the R2 keys of the operator', () => {
  it('are for whole folders, not for what begins like them', () => {
    const may = (organization: string, bucket: string, key: string) =>
      isGranted(given.buckets, { organization, bucket, key });
    expect(may('acme', 'events', 'hooks/a.jsonl')).to.equal(true);
    expect(may('acme', 'events', 'hooks-of-others/a.jsonl')).to.equal(false);
    expect(may('acme', 'events', 'a.jsonl')).to.equal(false);
    expect(may('acme', 'spare', 'a.jsonl')).to.equal(true);
    expect(may('acme', 'spare2', 'a.jsonl')).to.equal(false);
    expect(may('acme', 'lake', 'a.jsonl'), 'of another type').to.equal(false);
    expect(may('stranger', 'events', 'hooks/a.jsonl')).to.equal(false);
    const all = (prefix: string | undefined) =>
      isPrefixGranted(given.buckets, { organization: 'acme', bucket: 'events', prefix });
    expect([all('hooks'), all('/hooks/eu/'), all('hook'), all(undefined)]).to.deep.equal([true, true, false, false]);
  });

  it('are used by a config that lacks one of its own', () => {
    expect(usesOperatorsKeys({ accessKeyId: 'a', secretAccessKey: 'b' }, given)).to.equal(false);
    expect(usesOperatorsKeys({ accessKeyId: 'a' }, given)).to.equal(true);
    expect(usesOperatorsKeys({ secretAccessKey: 'b' }, given)).to.equal(true);
    const nothing = operatorR2({ HOOKYARD_WAREHOUSE_IDENTITY: [] }, {});
    expect(usesOperatorsKeys({}, nothing)).to.equal(false);
  });
});
