// What batches and tests of warehouses tell alike of a file.
import { z } from 'zod';
import { count, idOf, text } from '../values.ts';

export const conversions = z
  .array(
    z
      .object({ target: text('order_id'), count, eventId: idOf('evt') })
      .meta({ id: 'Conversion', description: 'A column, how many values did not fit it, and the event of the first.' }),
  )
  .meta({ description: 'Values that did not fit, by column.', examples: [[]] });
