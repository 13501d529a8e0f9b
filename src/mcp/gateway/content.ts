// Resources and prompts of configured servers: `docs-greet` is the prompt `greet` of the server `docs`; resources keep their URIs. Reading one is
// decided like a call of a tool, under the names `resources/read` and `prompts/get`.
import type { CompleteRequestParams, CompleteResult, Prompt, Resource, ResourceTemplateType } from '@modelcontextprotocol/client';
import type { CallContext, HostTool, JsonSchema, RunOutcome } from '../server/tool.ts';
import { withoutInvisible } from './clean-tool.ts';

export type UpstreamContent = {
  readonly prompts: readonly Prompt[];
  readonly resources: readonly Resource[];
  readonly templates: readonly ResourceTemplateType[];
};
export const NO_CONTENT: UpstreamContent = { prompts: [], resources: [], templates: [] };

/** What the content of one server needs. Results are those of the protocol. */
export type ContentReader = {
  readResource(uri: string, context: CallContext): Promise<Result>;
  getPrompt(name: string, args: Readonly<Record<string, string>>, context: CallContext): Promise<Result>;
  complete(params: CompleteRequestParams, signal: AbortSignal): Promise<Completion>;
  /** Returns a function that unsubscribes. */
  watch(uri: string, onUpdate: () => void): Promise<() => void>;
};
type Result = Readonly<Record<string, unknown>>;
export type Completion = CompleteResult['completion'];

type Served = { readonly content: UpstreamContent; readonly reader: ContentReader };

/** For the server of a session. */
export type ForeignContent = {
  prompts(): readonly Prompt[];
  resources(): readonly Resource[];
  templates(): readonly ResourceTemplateType[];
  /** The work of reading, as a tool that the gate decides about; undefined if there is no such thing. */
  reading(uri: string): HostTool | undefined;
  prompting(name: string): HostTool | undefined;
  /** Values for an argument of a prompt or template; none if its server has no completion. `params` are those of the request. */
  complete(ref: string, params: CompleteRequestParams, signal: AbortSignal): Promise<Completion>;
  /** Subscribes to a resource; undefined if there is none. The promise is for a function that unsubscribes. */
  watch(uri: string, onUpdate: () => void): Promise<() => void> | undefined;
};

const READ = 'resources/read';
const GET = 'prompts/get';
const READ_MS = 60_000;
const ANY: JsonSchema = { type: 'object' };

/** `isExposed` is the policy's word about a server's resources or prompts. */
export function createContent(isExposed: (server: string, what: string) => boolean) {
  const servers = new Map<string, Served>();
  const exposed = (what: string) => [...servers].filter(([server]) => isExposed(server, what));
  const foreign = (server: string, ownName: string, run: HostTool['run']): HostTool => ({
    ...{ name: `${server}-${ownName}`, ownName, title: ownName, description: '', inputSchema: ANY },
    ...{ effect: 'foreign', needs: [], timeoutMs: READ_MS, server, run },
  });
  const structured = (result: Result): RunOutcome =>
    result.resultType === 'input_required' ? (result as RunOutcome) : { content: [], structuredContent: { ...result } };
  const holderOf = (uri: string) => {
    const all = exposed(READ);
    return (
      all.find(([, one]) => one.content.resources.some((resource) => resource.uri === uri)) ??
      all.find(([, one]) => one.content.templates.some(({ uriTemplate }) => fits(uriTemplate, uri)))
    );
  };
  const content: ForeignContent = {
    prompts: () =>
      exposed(GET).flatMap(([server, one]) =>
        one.content.prompts.map((prompt) => withoutInvisible({ ...prompt, name: `${server}-${prompt.name}` })),
      ),
    resources: () => exposed(READ).flatMap(([, one]) => one.content.resources.map(withoutInvisible)),
    templates: () => exposed(READ).flatMap(([, one]) => one.content.templates.map(withoutInvisible)),
    reading(uri) {
      const found = holderOf(uri);
      return found && foreign(found[0], READ, async (_, context) => structured(await found[1].reader.readResource(uri, context)));
    },
    prompting(name) {
      const found = exposed(GET).find(([server, one]) => one.content.prompts.some((prompt) => `${server}-${prompt.name}` === name));
      if (!found) return undefined;
      const [server, { reader }] = found;
      const own = name.slice(server.length + 1);
      return foreign(server, GET, async (args, context) =>
        structured(await reader.getPrompt(own, (args.arguments ?? {}) as Readonly<Record<string, string>>, context)),
      );
    },
    async complete(ref, params, signal) {
      const prompt = exposed(GET).find(([server, one]) => one.content.prompts.some(({ name }) => `${server}-${name}` === ref));
      if (prompt) {
        const own = { type: 'ref/prompt' as const, name: ref.slice(prompt[0].length + 1) };
        return prompt[1].reader.complete({ ...params, ref: own }, signal);
      }
      const template = exposed(READ).find(([, one]) => one.content.templates.some(({ uriTemplate }) => uriTemplate === ref));
      return template ? template[1].reader.complete(params, signal) : { values: [] };
    },
    watch: (uri, onUpdate) => holderOf(uri)?.[1].reader.watch(uri, onUpdate),
  };
  return { content, set: (server: string, served: Served) => void servers.set(server, served) };
}

/** Whether a URI template (RFC 6570) may have made this URI. The SDK's own is not used: it would be loaded at every start. */
function fits(template: string, uri: string): boolean {
  const pattern = template
    .split(/(\{[^}]*\})/)
    .map((part) => {
      if (!part.startsWith('{')) return part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
      if (/^\{[?&]/.test(part)) return '(?:[?&].*)?';
      return /^\{[+#/.;]|\*\}$/.test(part) ? '.+' : '[^/?#]+';
    })
    .join('');
  return new RegExp(`^${pattern}$`, 's').test(uri);
}
