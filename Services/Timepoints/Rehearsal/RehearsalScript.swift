import Wire

/// The scenes of the rehearsal.
struct RehearsalScript {
  private let data: JSONValue
  private let title: String

  init(_ data: JSONValue) {
    self.data = data
    title = data["title"]?.string ?? data["query"]?.string ?? ""
  }

  /// Numbers of one part of the scene.
  private func random(_ part: String) -> RehearsalRandom { RehearsalRandom("\(part) \(title)") }

  private var time: (year: String, location: String, ofDay: String) {
    let timeline = data["timeline"]
    let year: String =
      if case .integer(let year)? = timeline?["year"] {
        year < 0 ? "\(-year) BCE" : "\(year)"
      } else { "a time long ago" }
    return (
      year, timeline?["location"]?.string ?? "a place far away", timeline?["time_of_day"]?.string ?? "in the morning"
    )
  }

  private var names: [String] { (data["characters"]?.elements ?? []).compactMap { $0["name"]?.string } }

  var judgement: Judgement {
    let isMoment = QueryReader(title).hasWords
    return Judgement(
      isMoment: isMoment, title: String(title.prefix(200)),
      reason: isMoment ? "" : "There is no word in it that could be looked for in history.")
  }

  var openDateParts: [String] { ["month", "day", "hour", "minute", "season"] }

  var timeline: Timeline {
    var random = random("timeline")
    let reader = QueryReader(data["query"]?.string ?? title)
    let guessed = Int(random.next() % 750) + 1200
    let timeOfDay = random.pick(["early morning", "late morning", "noon", "afternoon", "dusk", "night"])
    let era = random.pick(["a time of change", "a time of trade", "a time of unrest", "a time of discovery"])
    let place = random.pick(["a harbour town", "a hill village", "a market square", "a river crossing"])
    let from = data["jump"]?["from"]
    return Timeline(
      year: reader.year ?? guessed, month: reader.month,
      day: HistoricalDate(year: reader.year ?? guessed, month: reader.month, day: reader.day).day,
      timeOfDay: timeOfDay, era: from?["era"]?.string ?? era,
      location: String((from?["location"]?.string ?? reader.location ?? place).prefix(200)),
      historicalContext: "For years people have spoken of what is coming. Today nobody can look away any more. "
        + "What is known of this day comes from few hands, and this is a rehearsal: the text is made up.")
  }

  var scene: SceneSetting {
    var random = random("scene")
    let (year, location, ofDay) = time
    return SceneSetting(
      setting: "\(location), \(year), \(ofDay). People stand close together, and more are coming. "
        + "In the middle a place is left free, as if everybody knew what it is for.",
      atmosphere: random.pick(["Expectant and quiet.", "Loud and hopeful.", "Tense, with low voices."]),
      weather: random.pick(["A cold wind under a clear sky.", "Warm and still.", "Light rain that is about to end."]),
      lighting: random.pick(["Low sun with long shadows.", "Grey light without shadows.", "Torches and lamps."]),
      sounds: random.pick(3, of: ["steps on stone", "a bell", "calls over the crowd", "water", "a child that laughs"]),
      smells: random.pick(2, of: ["smoke", "wet wool", "bread", "horses", "salt"]),
      objects: random.pick(4, of: ["a wooden table", "a rope", "a letter with a seal", "a basket", "a flag", "a lamp"]))
  }

  var characters: SceneCharacters {
    var random = random("characters")
    let names = random.pick(3, of: ["Marta", "Johannes", "Amina", "Tomas", "Lin", "Esteban", "Ruth", "Ivo"])
    let roles = random.pick(3, of: ["a messenger", "a mason", "a scribe", "a sailor", "a healer", "a trader"])
    let feelings = random.pick(3, of: ["hopeful", "worried", "proud", "curious", "tired but awake"])
    return SceneCharacters(
      characters: zip(zip(names, roles), feelings).map { person, feeling in
        SceneCharacter(
          name: person.0, role: person.1, description: "Of middle age, with a face that the weather has marked.",
          clothing: "A plain coat, mended at the elbows.",
          personality: "Patient, and quick to notice what others miss.",
          speakingStyle: "Short sentences and plain words.", emotionalState: "Is \(feeling).",
          dialogContext: "Wants to know what happens next, and what it means for the family.",
          historicalNote: "Invented for this rehearsal.", speaksInScene: true)
      })
  }

  var graph: CharacterGraph {
    let pairs = zip(names, names.dropFirst())
    return CharacterGraph(
      relationships: pairs.map {
        .init(from: $0, to: $1, kind: "neighbour", description: "They have known each other since childhood.")
      })
  }

  var moment: Moment {
    var random = random("moment")
    return Moment(
      summary: "\(title): the moment has come. Somebody steps forward, and the voices fall silent.",
      before: "Since dawn people have gathered here.", after: "Within hours everybody in the region knows of it.",
      stakes: "What is decided here cannot be taken back.", tension: "Nobody knows who moves first.",
      emotionalBeats: random.pick(3, of: ["waiting", "doubt", "courage", "relief", "awe"]))
  }

  var camera: Camera {
    var random = random("camera")
    return Camera(
      shot: random.pick(["wide shot", "medium shot"]), angle: random.pick(["eye level", "from above", "low angle"]),
      focalPoint: names.first ?? "the free place in the middle",
      composition: "The people frame the place in the middle; the sky takes the upper third.")
  }

  var dialog: Dialog {
    var random = random("dialog")
    let speakers = (data["characters"]?.elements ?? []).filter { $0["speaks_in_scene"] == .bool(true) }
      .compactMap { $0["name"]?.string }
    let texts = random.pick(
      4,
      of: [
        "Do you see them? They are early.", "I would not have believed it yesterday.", "Stay close. It begins.",
        "My father told me of a day like this.", "Whatever happens, remember where you stood.",
      ])
    return Dialog(
      lines: texts.enumerated().compactMap { index, text in
        guard !speakers.isEmpty else { return nil }
        return DialogLine(speaker: speakers[index % speakers.count], text: text, tone: "quiet", action: "")
      })
  }

  var grounding: Grounding {
    Grounding(
      verifiedFacts: [], assumptions: ["Everything in this scene is invented: it is a rehearsal without a model."],
      confidence: 0)
  }

  var imagePrompt: ImagePrompt {
    let (year, location, ofDay) = time
    return ImagePrompt(
      prompt: "\(title). \(location), \(year), \(ofDay): people around a free place.",
      style: "flat shapes, soft colours")
  }
}
