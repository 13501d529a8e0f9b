/** Something a scene could not do through no fault of the program. Its message is said to the user and the turn ends in peace. */
export class SceneFailure extends Error {
  override name = 'SceneFailure';
}
