import ClientBodies

/// How a scene was made and is to be seen.
extension SceneMetadata {
  init(_ scene: GeneratedScene, of timepoint: Timepoint) {
    self.init(
      title: scene.title, timeline: .init(scene.timeline), camera: .init(scene.camera),
      imageStyle: scene.imagePrompt.style, parentID: timepoint.parent?.description,
      direction: timepoint.direction?.rawValue)
  }
}

extension SceneMetadata.Timeline {
  fileprivate init(_ timeline: Timeline) {
    self.init(
      year: timeline.year, month: timeline.month, day: timeline.day, hour: timeline.hour, minute: timeline.minute,
      second: timeline.second, season: timeline.season, timeOfDay: timeline.timeOfDay, era: timeline.era,
      location: timeline.location, historicalContext: timeline.historicalContext)
  }
}

extension SceneMetadata.Camera {
  fileprivate init(_ camera: Camera) {
    self.init(shot: camera.shot, angle: camera.angle, focalPoint: camera.focalPoint, composition: camera.composition)
  }
}

extension ClientBodies.SceneCharacters {
  init(_ scene: GeneratedScene) {
    self.init(
      characters: scene.characters.map { Character($0) },
      relationships: scene.graph.relationships.map { Relationship($0) })
  }
}

extension ClientBodies.SceneCharacters.Character {
  fileprivate init(_ character: SceneCharacter) {
    self.init(
      name: character.name, role: character.role, description: character.description, clothing: character.clothing,
      personality: character.personality, speakingStyle: character.speakingStyle,
      emotionalState: character.emotionalState, dialogContext: character.dialogContext,
      historicalNote: character.historicalNote, speaksInScene: character.speaksInScene)
  }
}

extension ClientBodies.SceneCharacters.Relationship {
  fileprivate init(_ relationship: CharacterGraph.Relationship) {
    self.init(
      from: relationship.from, to: relationship.to, kind: relationship.kind, description: relationship.description)
  }
}

extension ClientBodies.SceneSetting {
  init(_ scene: SceneSetting) {
    self.init(
      setting: scene.setting, atmosphere: scene.atmosphere, weather: scene.weather, lighting: scene.lighting,
      sounds: scene.sounds, smells: scene.smells, objects: scene.objects)
  }
}

extension ClientBodies.DialogLine {
  init(_ line: DialogLine) {
    self.init(speaker: line.speaker, text: line.text, tone: line.tone, action: line.action)
  }
}

extension SceneMoment {
  init(_ moment: Moment) {
    self.init(
      summary: moment.summary, before: moment.before, after: moment.after, stakes: moment.stakes,
      tension: moment.tension, emotionalBeats: moment.emotionalBeats)
  }
}

extension SceneGrounding {
  init(_ grounding: Grounding) {
    self.init(
      verifiedFacts: grounding.verifiedFacts, assumptions: grounding.assumptions, confidence: grounding.confidence)
  }
}
