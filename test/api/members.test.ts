// Tables of members (api/resources/table.ts): what follows from them.
import { expect } from 'chai';
import { z } from 'zod';
import { destinationMembers, warehouseMembers } from '../../api/resources/destinations/destination-members.ts';
import {
  computed,
  converted,
  createShape,
  defaultsOf,
  fileShape,
  importShape,
  membersOf,
  only,
  optional,
  readOnly,
  required,
  sealed,
  toAnswer,
  toFileItem,
  updateShape,
} from '../../api/resources/table.ts';

interface Shop {
  id: string;
  organizationId: string;
  version: number;
  name: string;
  enabled: boolean;
  ownerId: string | null;
  hint?: string | null;
  secret: string;
  createdAt: Date;
}

const members = membersOf<Shop>()({
  id: readOnly(z.string()),
  name: required(z.string().max(10)),
  enabled: optional(z.boolean(), true, { fileName: 'isActive' }),
  ownerId: optional(z.string().nullable(), null, { fileName: 'ownerSlug' }),
  hint: optional(z.string().nullable(), null, { answer: z.string().optional() }),
  secret: sealed(z.object({ token: z.string() }), { answer: z.string(), file: z.string() }),
  orders: computed(z.int()),
  createdAt: readOnly(z.date()),
});

const shop = {
  id: 'shop_1',
  organizationId: 'org_1',
  version: 7,
  name: 'Main',
  enabled: false,
  ownerId: 'usr_1',
  hint: null,
  secret: 'encrypted',
  createdAt: new Date('2026-11-21T10:00:00Z'),
};

describe('A table of members', () => {
  it('says what a create must and may hold', () => {
    const create = z.object(createShape(members));
    expect(Object.keys(create.shape)).to.deep.equal(['name', 'enabled', 'ownerId', 'hint', 'secret']);
    expect(create.safeParse({ name: 'Main' }).success).to.equal(true);
    expect(create.safeParse({}).success).to.equal(false);
    expect(create.safeParse({ name: 'too long a name' }).success).to.equal(false);
  });

  it('says that an update may hold each of them', () => {
    const update = z.object(updateShape(members));
    expect(update.parse({})).to.deep.equal({});
    expect(update.safeParse({ name: 'too long a name' }).success).to.equal(false);
  });

  it('says what a new record has where nothing is sent', () => {
    expect(defaultsOf(members)).to.deep.equal({ enabled: true, ownerId: null, hint: null });
  });

  it('shows a record: what is found out beside the columns, no internal column', () => {
    expect(toAnswer(members, shop, { orders: 3, secret: '••••' })).to.deep.equal({
      id: 'shop_1',
      name: 'Main',
      enabled: false,
      ownerId: 'usr_1',
      secret: '••••',
      orders: 3,
      createdAt: shop.createdAt,
    });
  });

  it('leaves a member of an optional type out of answers while it is null, and shows any other as null', () => {
    const { hint: none } = toAnswer(members, shop, { orders: 3, secret: '' });
    expect(none).to.equal(undefined);
    const shown = toAnswer(members, { ...shop, hint: 'red', ownerId: undefined }, { orders: 3, secret: '' });
    expect(shown).to.include({ hint: 'red', ownerId: null });
  });

  it('has the names of files in exports and imports, without what clients cannot send', () => {
    const names = ['name', 'isActive', 'ownerSlug', 'hint', 'secret'];
    expect(Object.keys(fileShape(members))).to.deep.equal(names);
    expect(Object.keys(importShape(members))).to.deep.equal(names);
    expect(toFileItem(members, shop, { ownerSlug: 'anna', secret: '***' })).to.deep.equal({
      name: 'Main',
      isActive: false,
      ownerSlug: 'anna',
      secret: '***',
    });
  });

  it('gives a part of itself for lists', () => {
    expect(toAnswer(only(members, 'name', 'id'), shop, {})).to.deep.equal({ id: 'shop_1', name: 'Main' });
  });

  it('does not compile when the entity and the table differ', () => {
    // @ts-expect-error a column has no row
    membersOf<Pick<Shop, 'name' | 'enabled'>>()({ name: members.name });
    // @ts-expect-error a row has no column
    membersOf<Pick<Shop, 'name'>>()({ name: members.name, color: required(z.string()) });
    // @ts-expect-error a column holds something else
    membersOf<Pick<Shop, 'name'>>()({ name: required(z.int()) });
    membersOf<Pick<Shop, 'name'>>()({ name: converted(z.int()) });
    // @ts-expect-error an encrypted column would be shown as it is
    toAnswer(members, shop, { orders: 3 });
  });

  it('seals every encrypted column of destinations', () => {
    for (const table of [destinationMembers, warehouseMembers]) {
      expect(table.authConfig).to.have.property('isSealed', true);
      expect(table.signingSecret).to.have.property('isSealed', true);
    }
    expect(warehouseMembers.config).to.have.property('isSealed', true);
  });
});
