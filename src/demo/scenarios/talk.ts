// Anything that is not a command: a thought and a short friendly answer.
import type { Scene } from './scenario.ts';

const ECHO_CHARACTERS = 400;

export const chat: Scene = async (turn, { rest, attachments }) => {
  const { title, thoughts, advice } = turn.persona;
  await turn.think(thoughts[0]);
  if (turn.session.record.configValues.thinking === 'thorough') await turn.think(` ${thoughts[1]}`);
  const echo = rest.length > ECHO_CHARACTERS ? `${rest.slice(0, ECHO_CHARACTERS)}…` : rest;
  const besides = attachments.length === 0 ? '' : `With it came ${attachments.join(', ')}. `;
  await turn.say(`${title} here. You said: "${echo}". ${besides}${advice}`);
};
