// What model APIs require of tools. They refuse the whole request when one tool breaks a rule, and so does the scripted model.
import { isOurs } from './script.mjs';

const ROOT_KEYWORDS = ['anyOf', 'oneOf', 'allOf', 'not', 'enum'];

/** The first rule that a tool of this request breaks. The rules on names and descriptions are the strictest of all APIs, and hold for our tools. */
export function brokenRule(tools) {
  for (const tool of tools) {
    if (tool.isFreeform) continue;
    const { name, schema, description = '' } = tool;
    if (schema) {
      if (schema.type !== undefined && String(schema.type).toLowerCase() !== 'object')
        return `${name}: the schema's root is not of type object`;
      const keyword = ROOT_KEYWORDS.find((key) => key in schema);
      if (keyword) return `${name}: ${keyword} is not supported at the root of the schema`;
    }
    if (!isOurs(name) && !isOurs(tool.ns)) continue;
    if (schema?.type === undefined) return `${name}: the schema's root has no type`;
    if (JSON.stringify(schema).includes('"$ref"')) return `${name}: $ref is not supported`;
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name)) return `${name}: the name does not match ^[a-zA-Z0-9_-]{1,64}$`;
    if (description.length > 1024) return `${name}: the description is longer than 1024 characters`;
  }
  return undefined;
}
