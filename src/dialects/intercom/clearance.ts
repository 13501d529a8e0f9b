// A request for clearance as a question about permission.
import { type Dict, text } from '../json.ts';
import { absolute } from '../paths.ts';
import { textsOfDiff } from '../unified-diff.ts';
import { CLEARANCE_OPTIONS } from './table.ts';

export function permissionOf(sessionId: string, cwd: string | undefined, id: string, params: Dict): Dict {
  const path = absolute(cwd, text(params.file_path) ?? '');
  const description = text(params.description);
  const diff = text(params.diff);
  return {
    sessionId,
    toolCall: {
      toolCallId: `clearance-${id}`,
      title: params.title,
      kind: diff !== undefined && /^\+\+\+ \/dev\/null\s*$/m.test(diff) ? 'delete' : 'edit',
      status: 'pending',
      content: [...(description === undefined ? [] : [words(description)]), ...(diff === undefined ? [] : [diffContent(path, diff)])],
      locations: [{ path }],
      rawInput: params,
    },
    options: CLEARANCE_OPTIONS,
    ...(params.risk_level !== undefined && { _meta: { risk_level: params.risk_level } }),
  };
}

const words = (said: string): Dict => ({ type: 'content', content: { type: 'text', text: said } });

/** One that cannot be read as two texts is shown as it is. */
function diffContent(path: string, diff: string): Dict {
  const texts = textsOfDiff(diff);
  return texts ? { type: 'diff', path, ...texts } : words(`\`\`\`diff\n${diff}\n\`\`\``);
}
