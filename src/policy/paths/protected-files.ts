// Protected files: changing them would give an agent control over itself or over the next shell. Writing them always asks.

import { NO_CONDITIONS, type Rule } from '../rules/rule.ts';
import { isAbsolute, resolvePath } from './path.ts';
import { compilePathGlob, type PathGlob } from './path-glob.ts';

const PROTECTED: readonly { readonly id: string; readonly reason: string; readonly globs: readonly string[] }[] = [
  {
    id: 'protected:switchboard',
    reason: 'a file that governs the switchboard itself',
    globs: [
      '**/switchboard.{json,jsonc}',
      '**/acp-switchboard',
      '**/acp-switchboard/**',
      '**/.switchboard',
      '**/.switchboard/**',
      '**/audit.jsonl',
    ],
  },
  {
    id: 'protected:agent-settings',
    reason: "an agent's or editor's settings can allow it anything",
    globs: [
      '**/.{claude,codex,gemini,qwen,opencode,copilot,cline,pi,cursor,continue,aider,augment,factory,kiro,roo,zed,vscode,idea,crush,junie,kilocode,kimi,qoder,trae,vibe,amazonq,openhands}{,/**}',
      '**/.config/{opencode,github-copilot,cline,zed,goose,claude,codex,gemini}{,/**}',
      '**/{.claude.json,.mcp.json,opencode.json,opencode.jsonc,crush.json,.crush.json,.aider.conf.yml,.clinerules}',
      '**/.clinerules/**',
    ],
  },
  {
    id: 'protected:git-hooks',
    reason: 'git runs it',
    globs: [
      '**/.git',
      '**/.git/{hooks,config,config.worktree,info/attributes}',
      '**/.git/hooks/**',
      '**/.git/modules/**',
      '**/.husky{,/**}',
      '**/.{gitconfig,gitmodules}',
      '**/.config/git{,/**}',
    ],
  },
  {
    id: 'protected:shell-startup',
    reason: 'every new shell runs it',
    globs: [
      '**/.{bashrc,bash_profile,bash_login,bash_logout,bash_aliases,profile,zshrc,zshenv,zprofile,zlogin,zlogout,kshrc,mkshrc,cshrc,tcshrc,login,inputrc,envrc,direnvrc}',
      '**/.config/{fish,nushell,autostart,systemd,direnv}{,/**}',
      '/etc/{profile,bash.bashrc,bashrc,zshrc,zshenv,environment,crontab,sudoers}',
      '/etc/{profile.d,cron.d,sudoers.d,ld.so.conf.d}/**',
      '**/.ssh{,/**}',
      '**/.{npmrc,yarnrc,yarnrc.yml,pypirc,netrc}',
      '**/Library/LaunchAgents{,/**}',
    ],
  },
];

const BUILT_IN = '<built-in>';

const PROTECTED_RULES = PROTECTED.map(({ id, reason, globs }) => protectedFileRule(id, reason, globs.map(glob)));

/** Until version 0.2 these ids began with another word, which audit logs and test cases of users still have. */
export const currentRuleId = (id: string): string => id.replace(/^floor:/, 'protected:');

/** Ask rules, so that they win over every allow and yield only to a deny. */
export function protectedFileRules(ours: readonly string[]): Rule[] {
  const own = ours.filter(isAbsolute).flatMap((path) => literal(resolvePath('/', path)));
  return [
    ...PROTECTED_RULES,
    ...(own.length > 0 ? [protectedFileRule('protected:own-files', 'a file that governs the switchboard itself', own)] : []),
  ];
}

function protectedFileRule(id: string, reason: string, paths: readonly PathGlob[]): Rule {
  const actions = new Set(['edit', 'delete', 'move', 'other'] as const);
  return { ...NO_CONDITIONS, verdict: 'ask', id, file: BUILT_IN, line: 1, column: 1, reason, actions, paths };
}

function glob(source: string): PathGlob {
  const compiled = compilePathGlob(source);
  if ('wrong' in compiled) throw new Error(`the built-in glob ${source} is wrong: ${compiled.wrong}`);
  return compiled;
}

// The switchboard's own path is text, not a pattern: it covers the file, or everything below the directory.
function literal(own: string): PathGlob {
  const wanted = own.toLowerCase();
  const isOwn = (path: string) => path.toLowerCase() === wanted || path.toLowerCase().startsWith(`${wanted}/`);
  return { source: own, base: () => own, matches: isOwn, touches: ({ path, written }) => isOwn(path) || isOwn(written) };
}
