// Which descriptions of modes and options say that the agent no longer asks.
import { expect, test } from 'vitest';
import { skipsApproval } from '../../../src/policy/actions/skips-approval.ts';

test.each([
  'Automatically accept all file edits',
  'Claude handles permission decisions',
  'Auto-approves edit tools',
  'Auto-approves all tools',
  'YOLO',
  'Only ask for actions detected as potentially unsafe',
  'Unrestricted access to the internet and any file on your computer',
  'Autonomous mode that enables allow-all and runs until task completion without user interaction (experimental)',
  'Automatically approve all tool, path, and URL requests',
  'Skip all permission checks',
  'Runs every tool without asking for approval',
  'Never ask before running commands',
  'Bypass permissions',
  "Don't ask again",
  'full-access',
  'Dangerously skip permissions',
])('%s', (text) => expect(skipsApproval(text)).toBe(true));

test.each([
  'Always ask before making changes',
  'Create a plan before making changes',
  'Prompts for approval',
  'Read-only mode',
  'Requires approval to edit files and access the internet.',
  'Require approval for tool, path, and URL requests',
  'Default agent mode for conversational interactions',
  'The default agent. Executes tools based on configured permissions.',
  'Plan mode. Disallows all edit tools.',
  'Controls whether Copilot prompts for approval before using tools, accessing paths, or fetching URLs.',
  'Asks for everything; does not skip approval',
  'Automatic model selection',
])('not: %s', (text) => expect(skipsApproval(text)).toBe(false));
