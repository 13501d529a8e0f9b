// A tool the host lends to every agent: here a question to the person at the editor, for an agent that has no such thing itself.
import { expect, type Stage } from './stage.ts';

export async function hostTool(stage: Stage): Promise<void> {
  const { page, asked } = stage;
  page.heading('A tool lent to every agent, over MCP');
  const call = { question: 'Which colour should the shed have?', choices: ['Green', 'Red'] };
  page.line('sketcher', 'calls ask_user, a tool of the switchboard');
  stage.willAnswer('Green');
  const before = asked.length;
  const said = await stage.prompt('sketcher', `/call switchboard ask_user ${JSON.stringify(call)}`);
  page.line('sketcher', `got the answer: ${said.trim()}`);
  expect(asked.length === before + 1, 'the question should have reached the editor');
  expect(said.includes('answered: Green'), 'the answer should have reached the agent');
}
