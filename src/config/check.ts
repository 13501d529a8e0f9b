// What no schema can say: whether names point at something.
import { AGENT_NAME } from '../agents/defaults.ts';
import { didYouMean } from '../policy/format/nearest.ts';
import { type Document, showPath } from './document.ts';
import { enabledNames, fields, type Layer, type Placed } from './layer.ts';
import type { Problem } from './problems.ts';

/** Problems of the layers taken together. `main` is the file to which a lack is charged. */
export function check(layer: Layer, main: Document): Problem[] {
  return [...badNames(layer), ...noAgent(layer, main), ...danglingNames(layer)];
}

function badNames(layer: Layer): Problem[] {
  const rule = 'an agent\'s name starts with a letter or digit and holds only letters, digits, ".", "_" and "-"';
  return [...layer.agents].flatMap(([name, { document, path }]) => (AGENT_NAME.test(name) ? [] : [document.keyProblem(path, rule)]));
}

function noAgent(layer: Layer, main: Document): Problem[] {
  const { agent_servers } = fields(main.value);
  const isWrongType = agent_servers !== undefined && fields(agent_servers) !== agent_servers; // the schema says so already
  if (isWrongType || enabledNames(layer).length > 0) return [];
  return [main.problem(['agent_servers'], 'agent_servers: expected at least one agent that is enabled')];
}

function danglingNames(layer: Layer): Problem[] {
  const routes = layer.routes.map(({ document, path, value }) => ({ document, path: [...path, 'agent'], value: fields(value).agent }));
  return [...(layer.defaultAgent ? [layer.defaultAgent] : []), ...routes].flatMap((reference) => dangling(layer, reference));
}

function dangling(layer: Layer, { document, path, value: name }: Placed): Problem[] {
  const names = enabledNames(layer);
  if (typeof name !== 'string' || names.includes(name)) return [];
  const key = showPath(path);
  if (layer.agents.has(name)) return [document.problem(path, `${key}: the agent "${name}" is not enabled`)];
  return [document.problem(path, `${key}: expected the name of an agent in agent_servers`, didYouMean(name, names))];
}
