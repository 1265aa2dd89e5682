; Made by llvm_from_c.py from sources with the digest d51ff1b9fa2c2ac6846825f436954dbf
; with ziglang 0.17.1

%struct.input_record = type { i64, i64, i64, i64, i64, ptr, i64, ptr }

@calls = internal global i64 0, align 8

define ptr @grow(ptr %0, i64 %1) {
  %3 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %4 = load i64, ptr %3, align 8
  %5 = add i64 %4, %1
  %6 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %7 = load i64, ptr %6, align 8
  %8 = icmp ugt i64 %5, %7
  br i1 %8, label %11, label %9

9:
  store i64 %5, ptr %3, align 8
  %10 = inttoptr i64 %4 to ptr
  br label %43

11:
  %12 = add i64 %1, 128
  %13 = load i64, ptr %0, align 8
  %14 = inttoptr i64 %13 to ptr
  %15 = getelementptr inbounds nuw i8, ptr %14, i64 120
  %16 = load ptr, ptr %15, align 8
  %17 = tail call ptr %16(i64 %12)
  %18 = icmp eq ptr %17, null
  br i1 %18, label %43, label %19

19:
  %20 = getelementptr inbounds nuw i8, ptr %14, i64 248
  %21 = load ptr, ptr %20, align 8
  %22 = icmp eq ptr %21, null
  %23 = icmp slt i64 %12, 4194304
  %24 = or i1 %23, %22
  %25 = ptrtoint ptr %17 to i64
  br i1 %24, label %33, label %26

26:
  %27 = add i64 %25, 4095
  %28 = and i64 %27, -4096
  %29 = inttoptr i64 %28 to ptr
  %30 = add i64 %12, %25
  %31 = sub i64 %30, %28
  %32 = tail call i32 %21(ptr %29, i64 %31, i32 14)
  br label %33

33:
  %34 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %35 = load i64, ptr %34, align 8
  %36 = inttoptr i64 %35 to ptr
  store ptr %36, ptr %17, align 8
  %37 = getelementptr inbounds nuw i8, ptr %17, i64 8
  store i64 %12, ptr %37, align 8
  store i64 %25, ptr %34, align 8
  %38 = getelementptr inbounds nuw i8, ptr %17, i64 16
  %39 = ptrtoint ptr %38 to i64
  %40 = add i64 %39, 63
  %41 = and i64 %40, -64
  %42 = inttoptr i64 %41 to ptr
  br label %43

43:
  %44 = phi ptr [ %10, %9 ], [ %42, %33 ], [ null, %11 ]
  ret ptr %44
}

define ptr @alloc_output(ptr %0, i64 %1, ptr %2) {
  %4 = load i64, ptr %0, align 8
  %5 = inttoptr i64 %4 to ptr
  %6 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %7 = load i64, ptr %6, align 8
  %8 = icmp eq i64 %7, 0
  br i1 %8, label %13, label %9

9:
  %10 = getelementptr inbounds nuw i8, ptr %5, i64 184
  %11 = load ptr, ptr %10, align 8
  %12 = inttoptr i64 %7 to ptr
  tail call void %11(ptr %12)
  store i64 0, ptr %6, align 8
  br label %13

13:
  %14 = getelementptr inbounds nuw i8, ptr %5, i64 256
  %15 = getelementptr inbounds nuw i8, ptr %5, i64 24
  %16 = load i64, ptr %15, align 8
  %17 = getelementptr %struct.input_record, ptr %14, i64 %16
  %18 = getelementptr %struct.input_record, ptr %17, i64 %1
  %19 = getelementptr inbounds nuw i8, ptr %18, i64 24
  %20 = load ptr, ptr %19, align 8
  %21 = icmp eq ptr %20, null
  br i1 %21, label %42, label %22

22:
  %23 = load i32, ptr %20, align 4
  %24 = icmp eq i32 %23, 1
  br i1 %24, label %25, label %42

25:
  %26 = getelementptr inbounds nuw i8, ptr %18, i64 8
  %27 = load i64, ptr %26, align 8
  %28 = getelementptr inbounds nuw i8, ptr %20, i64 32
  %29 = load ptr, ptr %28, align 8
  %30 = icmp slt i64 %27, 1
  br i1 %30, label %41, label %34

31:
  %32 = add nuw nsw i64 %35, 1
  %33 = icmp eq i64 %32, %27
  br i1 %33, label %41, label %34

34:
  %35 = phi i64 [ %32, %31 ], [ 0, %25 ]
  %36 = getelementptr inbounds nuw i64, ptr %29, i64 %35
  %37 = load i64, ptr %36, align 8
  %38 = getelementptr inbounds nuw i64, ptr %2, i64 %35
  %39 = load i64, ptr %38, align 8
  %40 = icmp eq i64 %37, %39
  br i1 %40, label %31, label %42

41:
  store ptr null, ptr %19, align 8
  br label %56

42:
  %43 = getelementptr inbounds nuw i8, ptr %5, i64 96
  %44 = load ptr, ptr %43, align 8
  %45 = load ptr, ptr %18, align 8
  tail call void %44(ptr %45)
  %46 = getelementptr inbounds nuw i8, ptr %5, i64 80
  %47 = load ptr, ptr %46, align 8
  %48 = getelementptr inbounds nuw i8, ptr %5, i64 72
  %49 = load ptr, ptr %48, align 8
  %50 = load ptr, ptr %18, align 8
  %51 = getelementptr inbounds nuw i8, ptr %18, i64 8
  %52 = load i64, ptr %51, align 8
  %53 = trunc i64 %52 to i32
  %54 = tail call ptr %47(ptr %49, ptr %50, i32 %53, ptr %2, ptr null, ptr null, i32 0, ptr null)
  %55 = icmp eq ptr %54, null
  br i1 %55, label %65, label %56

56:
  %57 = phi ptr [ %20, %41 ], [ %54, %42 ]
  %58 = load i64, ptr %15, align 8
  %59 = mul i64 %58, 24
  %60 = getelementptr i8, ptr %0, i64 %59
  %61 = getelementptr i8, ptr %60, i64 40
  %62 = getelementptr inbounds ptr, ptr %61, i64 %1
  store ptr %57, ptr %62, align 8
  %63 = getelementptr inbounds nuw i8, ptr %57, i64 16
  %64 = load ptr, ptr %63, align 8
  br label %65

65:
  %66 = phi ptr [ %64, %56 ], [ null, %42 ]
  br i1 %8, label %72, label %67

67:
  %68 = getelementptr inbounds nuw i8, ptr %5, i64 176
  %69 = load ptr, ptr %68, align 8
  %70 = tail call ptr %69()
  %71 = ptrtoint ptr %70 to i64
  store i64 %71, ptr %6, align 8
  br label %72

72:
  ret ptr %66
}

define ptr @take(ptr %0, i64 %1, i64 %2, i64 %3) {
  %5 = load i64, ptr %0, align 8
  %6 = inttoptr i64 %5 to ptr
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %8 = load i64, ptr %7, align 8
  %9 = icmp eq i64 %8, 0
  br i1 %9, label %14, label %10

10:
  %11 = getelementptr inbounds nuw i8, ptr %6, i64 184
  %12 = load ptr, ptr %11, align 8
  %13 = inttoptr i64 %8 to ptr
  tail call void %12(ptr %13)
  store i64 0, ptr %7, align 8
  br label %14

14:
  %15 = getelementptr inbounds nuw i8, ptr %6, i64 256
  %16 = getelementptr inbounds %struct.input_record, ptr %15, i64 %2
  %17 = getelementptr inbounds nuw i8, ptr %6, i64 24
  %18 = load i64, ptr %17, align 8
  %19 = mul i64 %18, 24
  %20 = getelementptr i8, ptr %0, i64 %19
  %21 = getelementptr i8, ptr %20, i64 40
  %22 = mul i64 %2, 24
  %23 = getelementptr i8, ptr %0, i64 %22
  %24 = getelementptr i8, ptr %23, i64 40
  %25 = load i64, ptr %24, align 8
  %26 = inttoptr i64 %25 to ptr
  %27 = load i64, ptr %16, align 8
  %28 = icmp eq i64 %27, 0
  br i1 %28, label %55, label %29

29:
  %30 = getelementptr inbounds nuw i8, ptr %16, i64 8
  %31 = load i64, ptr %30, align 8
  %32 = inttoptr i64 %31 to ptr
  %33 = getelementptr %struct.input_record, ptr %15, i64 %18
  %34 = getelementptr %struct.input_record, ptr %33, i64 %1
  %35 = getelementptr inbounds nuw i8, ptr %34, i64 16
  %36 = load ptr, ptr %35, align 8
  %37 = icmp eq ptr %36, %32
  br i1 %37, label %38, label %55

38:
  %39 = getelementptr inbounds nuw i8, ptr %6, i64 32
  %40 = load i64, ptr %39, align 8
  %41 = getelementptr ptr, ptr %21, i64 %40
  %42 = getelementptr ptr, ptr %41, i64 %2
  %43 = load ptr, ptr %42, align 8
  %44 = load i32, ptr %43, align 4
  %45 = icmp eq i32 %44, 2
  br i1 %45, label %46, label %55

46:
  %47 = getelementptr inbounds nuw i8, ptr %43, i64 64
  %48 = load i32, ptr %47, align 4
  %49 = and i32 %48, 1285
  %50 = icmp eq i32 %49, 1285
  br i1 %50, label %51, label %55

51:
  %52 = getelementptr inbounds nuw i8, ptr %6, i64 96
  %53 = load ptr, ptr %52, align 8
  tail call void %53(ptr %43)
  %54 = getelementptr inbounds ptr, ptr %21, i64 %1
  store ptr %43, ptr %54, align 8
  br label %86

55:
  %56 = getelementptr i8, ptr %23, i64 48
  %57 = load i64, ptr %56, align 8
  %58 = inttoptr i64 %57 to ptr
  %59 = tail call ptr @alloc_output(ptr %0, i64 %1, ptr %58)
  %60 = icmp eq ptr %59, null
  br i1 %60, label %86, label %61

61:
  %62 = icmp sgt i64 %3, 7
  br i1 %62, label %68, label %63

63:
  %64 = phi i64 [ %3, %61 ], [ %73, %68 ]
  %65 = phi ptr [ %59, %61 ], [ %74, %68 ]
  %66 = phi ptr [ %26, %61 ], [ %75, %68 ]
  %67 = icmp sgt i64 %64, 0
  br i1 %67, label %77, label %86

68:
  %69 = phi ptr [ %75, %68 ], [ %26, %61 ]
  %70 = phi ptr [ %74, %68 ], [ %59, %61 ]
  %71 = phi i64 [ %73, %68 ], [ %3, %61 ]
  %72 = load i64, ptr %69, align 1
  store i64 %72, ptr %70, align 1
  %73 = add nsw i64 %71, -8
  %74 = getelementptr inbounds nuw i8, ptr %70, i64 8
  %75 = getelementptr inbounds nuw i8, ptr %69, i64 8
  %76 = icmp samesign ugt i64 %71, 15
  br i1 %76, label %68, label %63

77:
  %78 = phi ptr [ %81, %77 ], [ %66, %63 ]
  %79 = phi ptr [ %83, %77 ], [ %65, %63 ]
  %80 = phi i64 [ %84, %77 ], [ %64, %63 ]
  %81 = getelementptr inbounds nuw i8, ptr %78, i64 1
  %82 = load i8, ptr %78, align 1
  %83 = getelementptr inbounds nuw i8, ptr %79, i64 1
  store i8 %82, ptr %79, align 1
  %84 = add nsw i64 %80, -1
  %85 = icmp samesign ugt i64 %80, 1
  br i1 %85, label %77, label %86

86:
  %87 = phi ptr [ %26, %51 ], [ null, %55 ], [ %59, %63 ], [ %59, %77 ]
  ret ptr %87
}

define i64 @poll(ptr %0) {
  %2 = load i64, ptr %0, align 8
  %3 = inttoptr i64 %2 to ptr
  %4 = getelementptr inbounds nuw i8, ptr %3, i64 232
  %5 = load ptr, ptr %4, align 8
  %6 = tail call i64 %5()
  %7 = getelementptr inbounds nuw i8, ptr %3, i64 240
  %8 = load i64, ptr %7, align 8
  %9 = icmp eq i64 %6, %8
  %10 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %11 = load i64, ptr %10, align 8
  %12 = icmp eq i64 %11, 0
  br i1 %12, label %18, label %13

13:
  br i1 %9, label %14, label %30

14:
  %15 = getelementptr inbounds nuw i8, ptr %3, i64 184
  %16 = load ptr, ptr %15, align 8
  %17 = inttoptr i64 %11 to ptr
  tail call void %16(ptr %17)
  store i64 0, ptr %10, align 8
  br label %19

18:
  br i1 %9, label %19, label %24

19:
  %20 = getelementptr inbounds nuw i8, ptr %3, i64 224
  %21 = load ptr, ptr %20, align 8
  %22 = tail call i32 %21()
  %23 = sext i32 %22 to i64
  br label %24

24:
  %25 = phi i64 [ %23, %19 ], [ 0, %18 ]
  %26 = getelementptr inbounds nuw i8, ptr %3, i64 176
  %27 = load ptr, ptr %26, align 8
  %28 = tail call ptr %27()
  %29 = ptrtoint ptr %28 to i64
  store i64 %29, ptr %10, align 8
  br label %30

30:
  %31 = phi i64 [ %25, %24 ], [ 0, %13 ]
  ret i64 %31
}

define ptr @entry(ptr %0, ptr %1, i64 %2, ptr %3) {
  %5 = alloca i32, align 4
  %6 = alloca [384 x i64], align 16
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %8 = load ptr, ptr %7, align 8
  %9 = getelementptr inbounds nuw i8, ptr %8, i64 16
  %10 = load i64, ptr %9, align 8
  %11 = icmp ne i64 %2, %10
  %12 = icmp ne ptr %3, null
  %13 = or i1 %12, %11
  br i1 %13, label %402, label %14

14:
  %15 = getelementptr inbounds nuw i8, ptr %8, i64 24
  %16 = load i64, ptr %15, align 8
  %17 = shl i64 %16, 2
  %18 = add i64 %17, 5
  %19 = getelementptr inbounds nuw i8, ptr %8, i64 32
  %20 = load i64, ptr %19, align 8
  %21 = add i64 %18, %20
  %22 = icmp sgt i64 %21, 384
  br i1 %22, label %23, label %29

23:
  %24 = getelementptr inbounds nuw i8, ptr %8, i64 120
  %25 = load ptr, ptr %24, align 8
  %26 = shl i64 %21, 3
  %27 = tail call ptr %25(i64 %26)
  %28 = icmp eq ptr %27, null
  br i1 %28, label %402, label %29

29:
  %30 = phi ptr [ %27, %23 ], [ %6, %14 ]
  %31 = ptrtoint ptr %8 to i64
  store i64 %31, ptr %30, align 8
  %32 = load i64, ptr %15, align 8
  %33 = mul i64 %32, 24
  %34 = getelementptr i8, ptr %30, i64 %33
  %35 = getelementptr i8, ptr %34, i64 40
  %36 = load i64, ptr %19, align 8
  %37 = shl nsw i64 %36, 3
  %38 = getelementptr inbounds i8, ptr %35, i64 %37
  %39 = getelementptr inbounds nuw i8, ptr %8, i64 216
  %40 = load i64, ptr %39, align 8
  %41 = icmp slt i64 %40, 1
  br i1 %41, label %71, label %42

42:
  %43 = getelementptr inbounds nuw i8, ptr %8, i64 192
  %44 = getelementptr inbounds nuw i8, ptr %8, i64 208
  br label %45

45:
  %46 = phi i64 [ 0, %42 ], [ %66, %65 ]
  %47 = load ptr, ptr %43, align 8
  %48 = load ptr, ptr %44, align 8
  %49 = getelementptr inbounds nuw ptr, ptr %48, i64 %46
  %50 = load ptr, ptr %49, align 8
  %51 = tail call i32 %47(ptr %50, i32 0)
  %52 = icmp eq i32 %51, 0
  br i1 %52, label %53, label %65

53:
  %54 = icmp eq i64 %46, 0
  br i1 %54, label %394, label %55

55:
  %56 = getelementptr inbounds nuw i8, ptr %8, i64 200
  br label %57

57:
  %58 = phi i64 [ %46, %55 ], [ %61, %57 ]
  %59 = load ptr, ptr %56, align 8
  %60 = load ptr, ptr %44, align 8
  %61 = add nsw i64 %58, -1
  %62 = getelementptr inbounds nuw ptr, ptr %60, i64 %61
  %63 = load ptr, ptr %62, align 8
  tail call void %59(ptr %63)
  %64 = icmp samesign ugt i64 %58, 1
  br i1 %64, label %57, label %394

65:
  %66 = add nuw nsw i64 %46, 1
  %67 = load i64, ptr %39, align 8
  %68 = icmp slt i64 %66, %67
  br i1 %68, label %45, label %69

69:
  %70 = load i64, ptr %15, align 8
  br label %71

71:
  %72 = phi i64 [ %70, %69 ], [ %32, %29 ]
  %73 = icmp sgt i64 %72, 0
  br i1 %73, label %74, label %237

74:
  %75 = getelementptr inbounds nuw i8, ptr %8, i64 256
  %76 = getelementptr inbounds nuw i8, ptr %30, i64 40
  %77 = getelementptr inbounds nuw i8, ptr %8, i64 72
  %78 = getelementptr inbounds nuw i8, ptr %8, i64 136
  %79 = getelementptr inbounds nuw i8, ptr %8, i64 144
  %80 = getelementptr inbounds nuw i8, ptr %8, i64 152
  %81 = getelementptr inbounds nuw i8, ptr %8, i64 160
  br label %82

82:
  %83 = phi i1 [ false, %74 ], [ %224, %223 ]
  %84 = phi ptr [ %76, %74 ], [ %229, %223 ]
  %85 = phi ptr [ %75, %74 ], [ %228, %223 ]
  %86 = phi i64 [ 0, %74 ], [ %227, %223 ]
  %87 = phi i64 [ 0, %74 ], [ %226, %223 ]
  %88 = load i64, ptr %85, align 8
  %89 = icmp eq i64 %88, 0
  %90 = getelementptr inbounds nuw i8, ptr %85, i64 8
  %91 = load i64, ptr %90, align 8
  br i1 %89, label %96, label %92

92:
  %93 = inttoptr i64 %91 to ptr
  %94 = getelementptr inbounds nuw i8, ptr %93, i64 24
  %95 = load ptr, ptr %94, align 8
  br label %98

96:
  %97 = getelementptr inbounds ptr, ptr %1, i64 %91
  br label %98

98:
  %99 = phi ptr [ %95, %92 ], [ %97, %96 ]
  %100 = load ptr, ptr %99, align 8
  %101 = getelementptr inbounds nuw i8, ptr %100, i64 8
  %102 = load ptr, ptr %101, align 8
  %103 = load ptr, ptr %77, align 8
  %104 = icmp eq ptr %102, %103
  br i1 %104, label %105, label %175

105:
  %106 = getelementptr inbounds nuw i8, ptr %100, i64 24
  %107 = load i32, ptr %106, align 4
  %108 = sext i32 %107 to i64
  %109 = getelementptr inbounds nuw i8, ptr %85, i64 32
  %110 = load i64, ptr %109, align 8
  %111 = icmp eq i64 %110, %108
  br i1 %111, label %112, label %378

112:
  %113 = getelementptr inbounds nuw i8, ptr %100, i64 64
  %114 = load i32, ptr %113, align 4
  %115 = and i32 %114, 257
  %116 = icmp eq i32 %115, 257
  br i1 %116, label %117, label %378

117:
  %118 = getelementptr inbounds nuw i8, ptr %100, i64 56
  %119 = load ptr, ptr %118, align 8
  %120 = getelementptr inbounds nuw i8, ptr %85, i64 56
  %121 = load ptr, ptr %120, align 8
  %122 = icmp eq ptr %119, %121
  br i1 %122, label %137, label %123

123:
  %124 = getelementptr inbounds nuw i8, ptr %119, i64 28
  %125 = load i32, ptr %124, align 4
  %126 = sext i32 %125 to i64
  %127 = getelementptr inbounds nuw i8, ptr %119, i64 26
  %128 = load i8, ptr %127, align 2
  %129 = getelementptr inbounds nuw i8, ptr %85, i64 16
  %130 = load i64, ptr %129, align 8
  %131 = icmp eq i64 %130, %126
  br i1 %131, label %136, label %132

132:
  %133 = getelementptr inbounds nuw i8, ptr %85, i64 24
  %134 = load i64, ptr %133, align 8
  %135 = icmp eq i64 %134, %126
  br i1 %135, label %136, label %378

136:
  switch i8 %128, label %378 [
    i8 124, label %137
    i8 61, label %137
    i8 60, label %137
  ]

137:
  %138 = getelementptr inbounds nuw i8, ptr %100, i64 32
  %139 = load ptr, ptr %138, align 8
  %140 = getelementptr inbounds nuw i8, ptr %85, i64 40
  %141 = load ptr, ptr %140, align 8
  %142 = icmp sgt i32 %107, 0
  br i1 %142, label %143, label %162

143:
  %144 = icmp eq ptr %141, null
  br label %145

145:
  %146 = phi i64 [ 0, %143 ], [ %160, %156 ]
  %147 = phi i64 [ 1, %143 ], [ %159, %156 ]
  br i1 %144, label %156, label %148

148:
  %149 = getelementptr inbounds nuw i64, ptr %141, i64 %146
  %150 = load i64, ptr %149, align 8
  %151 = icmp sgt i64 %150, -1
  br i1 %151, label %152, label %156

152:
  %153 = getelementptr inbounds nuw i64, ptr %139, i64 %146
  %154 = load i64, ptr %153, align 8
  %155 = icmp eq i64 %150, %154
  br i1 %155, label %156, label %378

156:
  %157 = getelementptr inbounds nuw i64, ptr %139, i64 %146
  %158 = load i64, ptr %157, align 8
  %159 = mul i64 %158, %147
  %160 = add nuw nsw i64 %146, 1
  %161 = icmp eq i64 %160, %108
  br i1 %161, label %162, label %145

162:
  %163 = phi i64 [ 1, %137 ], [ %159, %156 ]
  %164 = getelementptr inbounds nuw i8, ptr %100, i64 16
  %165 = load i64, ptr %164, align 8
  store i64 %165, ptr %84, align 8
  %166 = ptrtoint ptr %139 to i64
  %167 = getelementptr inbounds nuw i8, ptr %84, i64 8
  store i64 %166, ptr %167, align 8
  %168 = getelementptr inbounds nuw i8, ptr %100, i64 40
  %169 = load i64, ptr %168, align 8
  %170 = getelementptr inbounds nuw i8, ptr %84, i64 16
  store i64 %169, ptr %170, align 8
  %171 = load i64, ptr %85, align 8
  %172 = icmp eq i64 %171, 0
  br i1 %172, label %223, label %173

173:
  %174 = getelementptr inbounds nuw ptr, ptr %38, i64 %86
  store ptr %100, ptr %174, align 8
  br label %223

175:
  %176 = getelementptr inbounds nuw i8, ptr %85, i64 48
  %177 = load i64, ptr %176, align 8
  %178 = getelementptr inbounds nuw ptr, ptr %38, i64 %86
  %179 = icmp eq i64 %177, 0
  br i1 %179, label %213, label %180

180:
  %181 = and i64 %177, 2
  %182 = icmp ne i64 %181, 0
  %183 = load ptr, ptr %78, align 8
  %184 = icmp eq ptr %102, %183
  %185 = and i64 %177, 1
  %186 = icmp eq i64 %185, 0
  br i1 %186, label %195, label %187

187:
  br i1 %184, label %192, label %188

188:
  %189 = load ptr, ptr %79, align 8
  %190 = icmp ne ptr %102, %189
  %191 = or i1 %182, %190
  br i1 %191, label %195, label %192

192:
  %193 = getelementptr inbounds nuw i8, ptr %100, i64 16
  %194 = load double, ptr %193, align 8
  br label %211

195:
  %196 = load ptr, ptr %80, align 8
  %197 = icmp eq ptr %102, %196
  br i1 %197, label %198, label %213

198:
  %199 = load ptr, ptr %81, align 8
  %200 = call i64 %199(ptr %100, ptr %5)
  %201 = load i32, ptr %5, align 4
  %202 = icmp eq i32 %201, 0
  br i1 %202, label %203, label %213

203:
  br i1 %186, label %204, label %206

204:
  %205 = bitcast i64 %200 to double
  br label %214

206:
  %207 = add i64 %200, -9007199254740993
  %208 = icmp ult i64 %207, -18014398509481985
  br i1 %208, label %213, label %209

209:
  %210 = sitofp i64 %200 to double
  br label %211

211:
  %212 = phi double [ %194, %192 ], [ %210, %209 ]
  br i1 %182, label %216, label %214

213:
  br label %378

214:
  %215 = phi double [ %205, %204 ], [ %212, %211 ]
  store double %215, ptr %178, align 8
  br label %221

216:
  %217 = fptrunc double %212 to float
  store float %217, ptr %178, align 4
  %218 = fpext float %217 to double
  %219 = fcmp oeq double %212, %218
  %220 = select i1 %184, i1 true, i1 %219
  br i1 %220, label %221, label %378

221:
  %222 = ptrtoint ptr %178 to i64
  store i64 %222, ptr %84, align 8
  br label %223

223:
  %224 = phi i1 [ %83, %162 ], [ true, %173 ], [ %83, %221 ]
  %225 = phi i64 [ %163, %162 ], [ %163, %173 ], [ 1, %221 ]
  %226 = add i64 %225, %87
  %227 = add nuw nsw i64 %86, 1
  %228 = getelementptr inbounds nuw i8, ptr %85, i64 64
  %229 = getelementptr inbounds nuw i8, ptr %84, i64 24
  %230 = icmp eq i64 %227, %72
  br i1 %230, label %231, label %82

231:
  %232 = icmp sgt i64 %226, -1
  br i1 %232, label %233, label %378

233:
  br i1 %224, label %234, label %237

234:
  %235 = getelementptr inbounds nuw i8, ptr %8, i64 96
  %236 = load ptr, ptr %235, align 8
  call fastcc void @each_held(ptr %8, ptr %38, ptr %236)
  br label %237

237:
  %238 = phi i1 [ false, %233 ], [ true, %234 ], [ false, %71 ]
  %239 = phi i64 [ %226, %233 ], [ %226, %234 ], [ 0, %71 ]
  %240 = icmp sgt i64 %36, 0
  br i1 %240, label %241, label %245

241:
  %242 = phi ptr [ %243, %241 ], [ %35, %237 ]
  store ptr null, ptr %242, align 8
  %243 = getelementptr inbounds nuw i8, ptr %242, i64 8
  %244 = icmp ult ptr %243, %38
  br i1 %244, label %241, label %245

245:
  %246 = getelementptr inbounds nuw i8, ptr %30, i64 32
  store i64 0, ptr %246, align 8
  %247 = getelementptr inbounds nuw i8, ptr %30, i64 24
  store i64 0, ptr %247, align 8
  %248 = getelementptr inbounds nuw i8, ptr %30, i64 16
  store i64 0, ptr %248, align 8
  %249 = getelementptr inbounds nuw i8, ptr %30, i64 8
  store i64 0, ptr %249, align 8
  %250 = getelementptr inbounds nuw i8, ptr %8, i64 64
  %251 = load i64, ptr %250, align 8
  %252 = icmp eq i64 %251, 0
  br i1 %252, label %259, label %253

253:
  store i64 0, ptr %250, align 8
  %254 = add i64 %251, 71
  %255 = and i64 %254, -64
  store i64 %255, ptr %249, align 8
  %256 = inttoptr i64 %251 to ptr
  %257 = load i64, ptr %256, align 8
  %258 = add i64 %257, %251
  store i64 %258, ptr %248, align 8
  br label %259

259:
  %260 = icmp samesign ugt i64 %239, 16384
  br i1 %260, label %261, label %266

261:
  %262 = getelementptr inbounds nuw i8, ptr %8, i64 176
  %263 = load ptr, ptr %262, align 8
  %264 = call ptr %263()
  %265 = ptrtoint ptr %264 to i64
  store i64 %265, ptr %246, align 8
  br label %266

266:
  %267 = load ptr, ptr %8, align 8
  %268 = getelementptr inbounds nuw i8, ptr %8, i64 8
  %269 = load ptr, ptr %268, align 8
  %270 = call i64 %267(ptr %30, ptr %269)
  %271 = load i64, ptr %246, align 8
  %272 = icmp eq i64 %271, 0
  br i1 %272, label %277, label %273

273:
  %274 = getelementptr inbounds nuw i8, ptr %8, i64 184
  %275 = load ptr, ptr %274, align 8
  %276 = inttoptr i64 %271 to ptr
  call void %275(ptr %276)
  store i64 0, ptr %246, align 8
  br label %277

277:
  %278 = load i64, ptr %247, align 8
  %279 = icmp eq i64 %278, 0
  br i1 %279, label %282, label %280

280:
  %281 = call fastcc i64 @larger_arena(ptr %8, ptr %30, i64 %251)
  br label %282

282:
  %283 = phi i64 [ %281, %280 ], [ %251, %277 ]
  %284 = icmp eq i64 %283, 0
  br i1 %284, label %292, label %285

285:
  %286 = load i64, ptr %250, align 8
  store i64 %283, ptr %250, align 8
  %287 = icmp eq i64 %286, 0
  br i1 %287, label %292, label %288

288:
  %289 = getelementptr inbounds nuw i8, ptr %8, i64 128
  %290 = load ptr, ptr %289, align 8
  %291 = inttoptr i64 %286 to ptr
  call void %290(ptr %291)
  br label %292

292:
  br i1 %238, label %293, label %296

293:
  %294 = getelementptr inbounds nuw i8, ptr %8, i64 104
  %295 = load ptr, ptr %294, align 8
  call fastcc void @each_held(ptr %8, ptr %38, ptr %295)
  br label %296

296:
  %297 = icmp eq i64 %270, 0
  %298 = icmp eq i64 %270, -2
  %299 = or i1 %297, %298
  br i1 %297, label %300, label %372

300:
  %301 = load ptr, ptr %35, align 8
  %302 = getelementptr inbounds nuw i8, ptr %8, i64 40
  %303 = load i64, ptr %302, align 8
  %304 = load i64, ptr %19, align 8
  %305 = getelementptr inbounds nuw i8, ptr %8, i64 48
  %306 = load i64, ptr %305, align 8
  %307 = icmp eq i64 %306, 1
  br i1 %307, label %325, label %308

308:
  %309 = getelementptr inbounds nuw i8, ptr %8, i64 88
  %310 = load ptr, ptr %309, align 8
  %311 = call ptr %310(i64 %303)
  %312 = icmp eq ptr %311, null
  br i1 %312, label %313, label %314

313:
  call fastcc void @drop_outputs(ptr %8, ptr %35)
  br label %378

314:
  %315 = getelementptr inbounds nuw i8, ptr %311, i64 24
  %316 = load ptr, ptr %315, align 8
  %317 = icmp sgt i64 %303, 0
  br i1 %317, label %318, label %325

318:
  %319 = phi i64 [ %323, %318 ], [ 0, %314 ]
  %320 = getelementptr inbounds nuw ptr, ptr %35, i64 %319
  %321 = load ptr, ptr %320, align 8
  %322 = getelementptr inbounds nuw ptr, ptr %316, i64 %319
  store ptr %321, ptr %322, align 8
  %323 = add nuw nsw i64 %319, 1
  %324 = icmp eq i64 %323, %303
  br i1 %324, label %325, label %318

325:
  %326 = phi ptr [ %301, %300 ], [ %311, %314 ], [ %311, %318 ]
  %327 = icmp slt i64 %303, %304
  br i1 %327, label %328, label %378

328:
  %329 = getelementptr inbounds nuw i8, ptr %8, i64 256
  %330 = getelementptr inbounds nuw i8, ptr %8, i64 72
  %331 = getelementptr inbounds nuw i8, ptr %8, i64 104
  br label %332

332:
  %333 = phi i64 [ %303, %328 ], [ %370, %369 ]
  %334 = load i64, ptr %15, align 8
  %335 = getelementptr %struct.input_record, ptr %329, i64 %334
  %336 = getelementptr %struct.input_record, ptr %335, i64 %333
  %337 = getelementptr inbounds ptr, ptr %35, i64 %333
  %338 = load ptr, ptr %337, align 8
  %339 = getelementptr inbounds nuw i8, ptr %336, i64 16
  %340 = load ptr, ptr %339, align 8
  %341 = getelementptr inbounds nuw i8, ptr %340, i64 24
  %342 = load ptr, ptr %341, align 8
  %343 = load ptr, ptr %342, align 8
  store ptr %338, ptr %342, align 8
  %344 = getelementptr inbounds nuw i8, ptr %336, i64 24
  %345 = load ptr, ptr %344, align 8
  %346 = icmp eq ptr %345, null
  br i1 %346, label %347, label %367

347:
  %348 = getelementptr inbounds nuw i8, ptr %343, i64 8
  %349 = load ptr, ptr %348, align 8
  %350 = load ptr, ptr %330, align 8
  %351 = icmp eq ptr %349, %350
  br i1 %351, label %352, label %367

352:
  %353 = load i32, ptr %343, align 4
  %354 = icmp eq i32 %353, 1
  br i1 %354, label %355, label %367

355:
  %356 = getelementptr inbounds nuw i8, ptr %343, i64 64
  %357 = load i32, ptr %356, align 4
  %358 = and i32 %357, 1285
  %359 = icmp eq i32 %358, 1285
  br i1 %359, label %360, label %367

360:
  %361 = getelementptr inbounds nuw i8, ptr %343, i64 56
  %362 = load ptr, ptr %361, align 8
  %363 = getelementptr inbounds nuw i8, ptr %338, i64 56
  %364 = load ptr, ptr %363, align 8
  %365 = icmp eq ptr %362, %364
  br i1 %365, label %366, label %367

366:
  store ptr %343, ptr %344, align 8
  br label %369

367:
  %368 = load ptr, ptr %331, align 8
  call void %368(ptr %343)
  br label %369

369:
  %370 = add i64 %333, 1
  %371 = icmp eq i64 %370, %304
  br i1 %371, label %378, label %332

372:
  call fastcc void @drop_outputs(ptr %8, ptr %35)
  %373 = icmp sgt i64 %270, -1
  %374 = or i1 %373, %298
  br i1 %374, label %378, label %375

375:
  %376 = getelementptr inbounds nuw i8, ptr %8, i64 168
  %377 = load ptr, ptr %376, align 8
  call void %377()
  br label %378

378:
  %379 = phi ptr [ null, %372 ], [ null, %375 ], [ %326, %369 ], [ null, %231 ], [ null, %313 ], [ %326, %325 ], [ null, %213 ], [ null, %152 ], [ null, %136 ], [ null, %132 ], [ null, %105 ], [ null, %216 ], [ null, %112 ]
  %380 = phi i1 [ %299, %372 ], [ %299, %375 ], [ %299, %369 ], [ false, %231 ], [ true, %313 ], [ true, %325 ], [ false, %213 ], [ false, %152 ], [ false, %136 ], [ false, %132 ], [ false, %105 ], [ false, %216 ], [ false, %112 ]
  %381 = load i64, ptr %39, align 8
  %382 = icmp sgt i64 %381, 0
  br i1 %382, label %383, label %394

383:
  %384 = getelementptr inbounds nuw i8, ptr %8, i64 200
  %385 = getelementptr inbounds nuw i8, ptr %8, i64 208
  br label %386

386:
  %387 = phi i64 [ %381, %383 ], [ %390, %386 ]
  %388 = load ptr, ptr %384, align 8
  %389 = load ptr, ptr %385, align 8
  %390 = add nsw i64 %387, -1
  %391 = getelementptr inbounds nuw ptr, ptr %389, i64 %390
  %392 = load ptr, ptr %391, align 8
  call void %388(ptr %392)
  %393 = icmp samesign ugt i64 %387, 1
  br i1 %393, label %386, label %394

394:
  %395 = phi ptr [ %379, %386 ], [ null, %53 ], [ %379, %378 ], [ null, %57 ]
  %396 = phi i1 [ %380, %386 ], [ false, %53 ], [ %380, %378 ], [ false, %57 ]
  %397 = icmp eq ptr %30, %6
  br i1 %397, label %401, label %398

398:
  %399 = getelementptr inbounds nuw i8, ptr %8, i64 128
  %400 = load ptr, ptr %399, align 8
  call void %400(ptr %30)
  br label %401

401:
  br i1 %396, label %408, label %402

402:
  %403 = getelementptr inbounds nuw i8, ptr %8, i64 112
  %404 = load ptr, ptr %403, align 8
  %405 = getelementptr inbounds nuw i8, ptr %8, i64 56
  %406 = load ptr, ptr %405, align 8
  %407 = call ptr %404(ptr %406, ptr %1, i64 %2, ptr %3)
  br label %408

408:
  %409 = phi ptr [ %407, %402 ], [ %395, %401 ]
  ret ptr %409
}

define internal fastcc void @each_held(ptr %0, ptr %1, ptr %2) {
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 24
  %5 = load i64, ptr %4, align 8
  %6 = icmp sgt i64 %5, 0
  br i1 %6, label %7, label %20

7:
  %8 = getelementptr inbounds nuw i8, ptr %0, i64 256
  br label %9

9:
  %10 = phi i64 [ 0, %7 ], [ %18, %17 ]
  %11 = getelementptr inbounds nuw %struct.input_record, ptr %8, i64 %10
  %12 = load i64, ptr %11, align 8
  %13 = icmp eq i64 %12, 0
  br i1 %13, label %17, label %14

14:
  %15 = getelementptr inbounds nuw ptr, ptr %1, i64 %10
  %16 = load ptr, ptr %15, align 8
  tail call void %2(ptr %16)
  br label %17

17:
  %18 = add nuw nsw i64 %10, 1
  %19 = icmp eq i64 %18, %5
  br i1 %19, label %20, label %9

20:
  ret void
}

define internal fastcc void @drop_outputs(ptr %0, ptr %1) {
  %3 = getelementptr inbounds nuw i8, ptr %0, i64 32
  %4 = load i64, ptr %3, align 8
  %5 = icmp sgt i64 %4, 0
  br i1 %5, label %6, label %18

6:
  %7 = getelementptr inbounds nuw i8, ptr %0, i64 104
  br label %8

8:
  %9 = phi i64 [ 0, %6 ], [ %16, %15 ]
  %10 = getelementptr inbounds nuw ptr, ptr %1, i64 %9
  %11 = load ptr, ptr %10, align 8
  %12 = icmp eq ptr %11, null
  br i1 %12, label %15, label %13

13:
  %14 = load ptr, ptr %7, align 8
  tail call void %14(ptr %11)
  br label %15

15:
  %16 = add nuw nsw i64 %9, 1
  %17 = icmp eq i64 %16, %4
  br i1 %17, label %18, label %8

18:
  ret void
}

define ptr @calls_left() nounwind {
  ret ptr @calls
}

define ptr @counted_entry(ptr %0, ptr %1, i64 %2, ptr %3) {
  %5 = load i64, ptr @calls, align 8
  %6 = add i64 %5, -1
  store i64 %6, ptr @calls, align 8
  %7 = icmp sgt i64 %6, -1
  br i1 %7, label %8, label %10

8:
  %9 = tail call ptr @entry(ptr %0, ptr %1, i64 %2, ptr %3)
  br label %18

10:
  %11 = getelementptr inbounds nuw i8, ptr %0, i64 16
  %12 = load ptr, ptr %11, align 8
  %13 = getelementptr inbounds nuw i8, ptr %12, i64 112
  %14 = load ptr, ptr %13, align 8
  %15 = getelementptr inbounds nuw i8, ptr %12, i64 56
  %16 = load ptr, ptr %15, align 8
  %17 = tail call ptr %14(ptr %16, ptr %1, i64 %2, ptr %3)
  br label %18

18:
  %19 = phi ptr [ %9, %8 ], [ %17, %10 ]
  ret ptr %19
}

define internal fastcc i64 @larger_arena(ptr %0, ptr %1, i64 %2) {
  %4 = getelementptr inbounds nuw i8, ptr %0, i64 128
  %5 = load ptr, ptr %4, align 8
  %6 = getelementptr inbounds nuw i8, ptr %1, i64 24
  %7 = load i64, ptr %6, align 8
  %8 = icmp eq i64 %7, 0
  br i1 %8, label %21, label %9

9:
  %10 = inttoptr i64 %7 to ptr
  br label %11

11:
  %12 = phi i64 [ %17, %11 ], [ 0, %9 ]
  %13 = phi ptr [ %14, %11 ], [ %10, %9 ]
  %14 = load ptr, ptr %13, align 8
  %15 = getelementptr inbounds nuw i8, ptr %13, i64 8
  %16 = load i64, ptr %15, align 8
  %17 = add i64 %16, %12
  tail call void %5(ptr %13)
  %18 = icmp eq ptr %14, null
  br i1 %18, label %19, label %11

19:
  %20 = add i64 %17, 128
  br label %21

21:
  %22 = phi i64 [ 128, %3 ], [ %20, %19 ]
  %23 = icmp eq i64 %2, 0
  br i1 %23, label %27, label %24

24:
  %25 = inttoptr i64 %2 to ptr
  %26 = load i64, ptr %25, align 8
  br label %27

27:
  %28 = phi i64 [ %26, %24 ], [ 0, %21 ]
  %29 = add i64 %22, %28
  %30 = icmp sgt i64 %29, 67108864
  br i1 %30, label %53, label %31

31:
  %32 = load ptr, ptr %4, align 8
  %33 = inttoptr i64 %2 to ptr
  tail call void %32(ptr %33)
  %34 = getelementptr inbounds nuw i8, ptr %0, i64 120
  %35 = load ptr, ptr %34, align 8
  %36 = tail call ptr %35(i64 %29)
  %37 = icmp eq ptr %36, null
  br i1 %37, label %53, label %38

38:
  %39 = getelementptr inbounds nuw i8, ptr %0, i64 248
  %40 = load ptr, ptr %39, align 8
  %41 = icmp eq ptr %40, null
  %42 = icmp slt i64 %29, 4194304
  %43 = or i1 %42, %41
  %44 = ptrtoint ptr %36 to i64
  br i1 %43, label %52, label %45

45:
  %46 = add i64 %44, 4095
  %47 = and i64 %46, -4096
  %48 = inttoptr i64 %47 to ptr
  %49 = add i64 %29, %44
  %50 = sub i64 %49, %47
  %51 = tail call i32 %40(ptr %48, i64 %50, i32 14)
  br label %52

52:
  store i64 %29, ptr %36, align 8
  br label %53

53:
  %54 = phi i64 [ %2, %27 ], [ %44, %52 ], [ 0, %31 ]
  ret i64 %54
}

