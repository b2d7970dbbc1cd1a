// The transform languages, by the `type` of a transform.
import type { TransformType } from '../../core/config/transform-types.ts';
import { javascript } from './javascript.ts';
import { jsonata } from './jsonata.ts';
import type { TransformLanguage } from './language.ts';
import { liquid } from './liquid.ts';

export const languages: Record<TransformType, TransformLanguage> = { javascript, jsonata, liquid };
