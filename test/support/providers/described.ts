// Compares what the API answers in any test with its description: an answer that the description does not tell of, or a
// body that is another than it says, fails the test. So the whole suite proves that the description is true.
import { STATUS_CODES } from 'node:http';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { apiDocument } from '../../../api/openapi/document.ts';
import { shortPath } from '../../../api/request/operation.ts';

/** One request and its answer. */
export interface Exchange {
  method: string;
  /** With its query. */
  path: string;
  /** What was sent as JSON; undefined when it was something else. */
  sent?: unknown;
  status: number;
  contentType: string | null;
  text: string;
}

interface DescribedAnswer {
  $ref?: string;
  content?: Record<string, unknown>;
  /** Of an error: null stands for none. */
  'x-codes'?: (string | null)[];
}
interface Described {
  requestBody?: { content: Record<string, unknown> };
  responses: Record<string, DescribedAnswer>;
}
type Paths = Record<string, Record<string, Described>>;

// What is wrong with an item of an import is reported in its result, so these accept more than is described.
const TAKE_MORE = ['/api/destinations/import', '/api/routes/import'];

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const document = apiDocument() as unknown as {
  paths: Paths;
  components: { responses: Record<string, DescribedAnswer> };
};

// Formats are checked; keywords that JSON Schema does not know are OpenAPI's own.
const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
addFormats.default(ajv);
ajv.addSchema(document, 'requests');
ajv.addSchema(withoutOtherMembers(document), 'answers');

const templates = Object.keys(document.paths).flatMap((path) =>
  [path, shortPath(path)]
    .filter((each) => each !== null)
    .map((each) => ({
      path,
      pattern: new RegExp(`^${each.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+')}/?$`),
      parameters: each.split('{').length,
    })),
);

/** The templates that a path is of: a fixed word is none of an id ("Path Templating Matching" in OpenAPI 3.1). */
function templatesOf(pathname: string): string[] {
  const matching = templates.filter(({ pattern }) => pattern.test(pathname));
  const least = Math.min(...matching.map(({ parameters }) => parameters));
  return matching.filter(({ parameters }) => parameters === least).map(({ path }) => path);
}

/** @throws Error that says what is not as described */
export function expectDescribed(exchange: Exchange): void {
  const { method, path, status } = exchange;
  const what = `${method} ${path} answered ${status}`;
  const problem = findProblem(exchange);
  if (problem !== null) throw new Error(`${what}, and ${problem} (see api/openapi/): ${exchange.text.slice(0, 1000)}`);
}

function findProblem({ method, path, sent, status, contentType, text }: Exchange): string | null {
  // The description has no way to say that any number of parts may follow.
  const pathname = (path.split(/[?#]/)[0] ?? '').replace(/^(\/ingest(?:\/[^/]*){3})\/.*$/, '$1');
  const matching = templatesOf(pathname);
  const name = method === 'HEAD' ? 'get' : method.toLowerCase();
  const template = matching.find((candidate) => document.paths[candidate]?.[name]);
  const operation = template === undefined ? undefined : document.paths[template]?.[name];
  if (template === undefined || operation === undefined) {
    const expected = matching.length > 0 ? [405, ...(method === 'OPTIONS' ? [204] : [])] : [404];
    return expected.includes(status) ? null : `the description has no such operation`;
  }
  const documented = operation.responses[status];
  if (documented === undefined) return 'the description of the operation has no such status';
  const at = `/paths/${pointerPart(template)}/${name}`;
  if (
    sent !== undefined &&
    status < 300 &&
    operation.requestBody?.content['application/json'] &&
    !TAKE_MORE.includes(template)
  ) {
    const refusal = mismatch('requests', `${at}/requestBody/content/application~1json/schema`, sent);
    if (refusal !== null) return `it took a body that the description does not allow: ${refusal}`;
  }
  if (method === 'HEAD') return null;
  const responseAt = documented.$ref?.slice(1) ?? `${at}/responses/${status}`;
  const { content, 'x-codes': codes } = documented.$ref ? componentOf(documented.$ref) : documented;
  if (!content) return text === '' ? null : 'the description says that there is no body';
  const type = contentType?.split(';')[0] ?? '';
  if ('*/*' in content) return null;
  if (!(type in content)) return `the description knows no answer of the type ${type}`;
  const value = type === 'application/json' ? JSON.parse(text) : text;
  const difference =
    mismatch('answers', `${responseAt}/content/${pointerPart(type)}/schema`, value) ??
    (codes ? errorMismatch(status, codes, value as ErrorBody) : null);
  return difference === null ? null : `the body is not as described: ${difference}`;
}

interface ErrorBody {
  error: string;
  code?: string;
  details?: unknown;
  limit?: unknown;
}

/** What all errors have one schema for, and each status its own. */
function errorMismatch(status: number, codes: (string | null)[], { error, code, details, limit }: ErrorBody) {
  if (!codes.includes(code ?? null)) return `the description of the status has no code ${code}`;
  if (error !== STATUS_CODES[status]) return `its error is not "${STATUS_CODES[status]}"`;
  if (details !== undefined && status !== 400) return 'it has details';
  return limit !== undefined && status !== 413 && status !== 429 ? 'it has a limit' : null;
}

const validators = new Map<string, ValidateFunction>();

function mismatch(of: 'requests' | 'answers', pointer: string, value: unknown): string | null {
  const key = `${of} ${pointer}`;
  let validator = validators.get(key);
  if (!validator) {
    validator = ajv.compile({ $ref: `${of}#${pointer.split('/').map(encodeURIComponent).join('/')}` });
    validators.set(key, validator);
  }
  if (validator(value)) return null;
  const problems = validator.errors?.map(({ instancePath, message, params }) => {
    const which = params.additionalProperty === undefined ? '' : `: ${params.additionalProperty}`;
    return `body${instancePath} ${message}${which}`;
  });
  return [...new Set(problems)].join(', ');
}

function componentOf(ref: string) {
  const response = document.components.responses[ref.split('/').at(-1) ?? ''];
  if (!response) throw new Error(`the description refers to ${ref}, which it does not have`);
  return response;
}

const pointerPart = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

/**
 * The description for answers: members that it does not name are mistakes of ours, whereas it leaves them open for
 * clients. What is sent may have them: they are ignored.
 */
function withoutOtherMembers<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withoutOtherMembers) as T;
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, withoutOtherMembers(member)]);
  return { ...Object.fromEntries(members), ...(isClosed(value) && { additionalProperties: false }) };
}

function isClosed(value: object): boolean {
  return 'type' in value && value.type === 'object' && 'properties' in value && !('additionalProperties' in value);
}

/** Every operation of the description, as `GET /api/routes/{id}`. */
export function describedOperations(): string[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => method in item).map((method) => `${method.toUpperCase()} ${path}`),
  );
}
