// Patterns of the user's that no engine can read. Apart, since the engine is too large for every start.
import type { Document } from './document.ts';
import { fields } from './layer.ts';
import type { Problem } from './problems.ts';

export async function badPatterns(documents: readonly Document[]): Promise<Problem[]> {
  const given = documents.flatMap((document) => {
    const { patterns } = fields(fields(fields(document.value).log).redact);
    const texts = Array.isArray(patterns) ? patterns : [];
    return texts.map((text: unknown, index) => ({ document, path: ['log', 'redact', 'patterns', index], text }));
  });
  if (given.length === 0) return [];
  const { compileUserPattern } = await import('../redaction/user-patterns.ts');
  return given.flatMap(({ document, path, text }) => {
    if (typeof text !== 'string') return []; // the schema says so already
    try {
      compileUserPattern(text);
      return [];
    } catch (error) {
      return [
        document.problem(path, `log.redact.patterns[${path.at(-1)}]: expected a pattern in RE2 syntax (${(error as Error).message})`),
      ];
    }
  });
}
