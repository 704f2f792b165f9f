extension PromptLibrary {
  /// The files of this folder, which are part of the program.
  static let builtIn: [String: [UInt8]] = [
    "rules.md": PackageResources.rules_md,
    "judge.md": PackageResources.judge_md, "judge.json": PackageResources.judge_json,
    "timeline.md": PackageResources.timeline_md, "timeline.json": PackageResources.timeline_json,
    "scene.md": PackageResources.scene_md, "scene.json": PackageResources.scene_json,
    "characters.md": PackageResources.characters_md, "characters.json": PackageResources.characters_json,
    "graph.md": PackageResources.graph_md, "graph.json": PackageResources.graph_json,
    "moment.md": PackageResources.moment_md, "moment.json": PackageResources.moment_json,
    "camera.md": PackageResources.camera_md, "camera.json": PackageResources.camera_json,
    "dialog.md": PackageResources.dialog_md, "dialog.json": PackageResources.dialog_json,
    "grounding.md": PackageResources.grounding_md, "grounding.json": PackageResources.grounding_json,
    "image_prompt.md": PackageResources.image_prompt_md, "image_prompt.json": PackageResources.image_prompt_json,
    "chat.md": PackageResources.chat_md, "chat.json": PackageResources.chat_json,
    "chat_text.md": PackageResources.chat_text_md,
    "lines.md": PackageResources.lines_md, "lines.json": PackageResources.lines_json,
    "survey.md": PackageResources.survey_md, "survey.json": PackageResources.survey_json,
    "survey_summary.md": PackageResources.survey_summary_md,
    "survey_summary.json": PackageResources.survey_summary_json,
  ]
}
